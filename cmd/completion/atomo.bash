# bash completion of atomo-bench and atomo-train. The programs know the candidates: PROGRAM --complete WORD...
_atomo() {
    local line=${COMP_LINE:0:COMP_POINT} cut last words
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    last=${words[-1]}
    # bash takes ':' and '=' for ends of words: only what follows the last of them is replaced
    cut=${last%"${last##*[:=]}"}
    mapfile -t COMPREPLY < <("${words[0]}" --complete "${words[@]:1}" 2>/dev/null)
    COMPREPLY=("${COMPREPLY[@]#"$cut"}")
    [[ ${COMPREPLY[*]} == *[:=+] ]] && compopt -o nospace
}
complete -o default -F _atomo atomo-bench atomo-train
