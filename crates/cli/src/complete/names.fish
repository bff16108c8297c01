
function __blocklab_names
    blocklab __complete (commandline -opc)[2..-1] (commandline -ct) 2> /dev/null
end
complete -c blocklab -k -a "(__blocklab_names)"
