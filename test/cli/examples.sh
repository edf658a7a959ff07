#!/bin/sh
# examples.sh -- runs the examples of all codecs, as the page of `list --details -f md` has them: sh examples.sh PAGE
#
# Each example is a command that makes g.h5 and one that compares or merges on it. Each g.h5 is made once, of 96 x 64
# elements, and one command with two repeats and two metrics runs all codecs that the examples name for it. Prints each
# codec whose example is of another form or has no result.
set -e
[ -n "$1" ]

# codec, first command, word and options of the second command, its specs
awk '
function finish() {
    if (name && (lines != 2 || !(first ~ /^atomo-bench synth -o g\.h5( |$)/ && second ~ /^atomo-bench (compare|merge) g\.h5 -c /)))
        print name ": not two commands" >"wrong"
    else if (name && !(second ~ "[ +:=]" name "([ +:/]|$)"))
        print name ": not in its example" >"wrong"
    else if (name) {
        count = split(second, word, " ")
        specs = rest = ""
        for (i = 4; i <= count; i++)
            if (word[i] == "-c")
                specs = specs " " word[++i]
            else
                rest = rest " " word[i]
        print name "|" first "|" word[2] " g.h5" rest "|" specs
    }
    name = ""
}
/^## / { finish(); name = $2; lines = inside = 0 }
/^# Names in the literature/ { exit }
/^[^ ]/ { inside = /^Example:/ }
inside && /^    / { sub(/^ */, ""); if (lines++) second = $0; else first = $0 }
END { finish() }' "$1" >examples

cut -d'|' -f2,3 examples | sort -u | while IFS='|' read -r make run; do
    case $make in *--shape*) small= ;; *) small=' --shape 96x64' ;; esac
    grep -F "|$make|$run|" examples >here
    specs=$(sed 's/.*|//' here | tr ' ' '\n' | sort -u)
    # shellcheck disable=SC2086  # words
    $make$small --quiet --force >/dev/null
    # shellcheck disable=SC2046,SC2086
    atomo-bench $run $(printf ' -c %s' $specs) --repeats 2 --metrics bytes,mse --quiet -f csv >out 2>err
    ! grep -v '^note: sign: moves ' err >&2 # examples share codecs
    for name in $(sed 's/|.*//' here); do
        grep -q "[,+=\"]$name[:+,\"]" out || echo "$name: no result"
    done
done
[ ! -e wrong ] || cat wrong
