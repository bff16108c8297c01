
_blocklab_names() {
    local -a names
    names=("${(@f)$(${words[1]} __complete "${(@)words[2,CURRENT]}" 2> /dev/null)}")
    [[ -n $names[1] && $words[CURRENT] == --*=* ]] && compset -P 1 '*='
    if [[ -z $names[1] ]]; then
        _blocklab "$@"
    elif [[ $names[1] == *[:@] ]]; then
        compadd -V names -S '' -- $names
    else
        compadd -V names -- $names
    fi
}
compdef _blocklab_names blocklab
