# fish completion of atomo-bench and atomo-train. The programs know the candidates: PROGRAM --complete WORD...
function __atomo_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] --complete $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
for program in atomo-bench atomo-train
    complete -c $program -f -a '(__atomo_complete)'
end
