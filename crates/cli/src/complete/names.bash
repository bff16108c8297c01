
_blocklab_names() {
    local line=${COMP_LINE:0:COMP_POINT} words=() names=() option="" cut="" kept="" found
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    local current=${words[${#words[@]} - 1]}
    if [[ $current == --*=* ]]; then
        option=${current%%=*}
        local COMP_CWORD=${#words[@]}
        current=${current#*=}
        # clap expects an option and its value as two words, without the equals sign of bash.
        local COMP_WORDS=("${words[@]:0:${#words[@]} - 1}" "$option" "$current")
        set -- "$1" "$current" "$option"
    fi
    # To the shell a colon may end a word.
    [[ $COMP_WORDBREAKS == *:* ]] && cut=${current%"${current##*:}"}
    # Where neither ends a word, the option is a part of the word that is replaced.
    [[ -z $option || -n $cut || $COMP_WORDBREAKS == *=* ]] || kept=$option=
    found=$("${words[0]}" __complete "${words[@]:1}" 2> /dev/null)
    local takes_value=$((! $?))
    if [[ -z $found ]]; then
        _blocklab "$@"
        # Options only for who begins one, or where nothing else is expected: else Tab types a `-`.
        mapfile -t names < <(printf '%s\n' "${COMPREPLY[@]}" | grep '^[^-]')
        [[ $current == -* ]] || ((takes_value + ${#names[@]} == 0)) || COMPREPLY=("${names[@]}")
        COMPREPLY=("${COMPREPLY[@]/#/$kept}")
        return
    fi
    mapfile -t names <<< "$found"
    names=("${names[@]#"$cut"}")
    COMPREPLY=("${names[@]/#/$kept}")
    [[ ${names[0]} == *[:@] ]] && compopt -o nospace
}
complete -F _blocklab_names -o nosort -o bashdefault -o default blocklab
