#!/bin/sh
# run.sh -- plants one fault at a time and checks that the named tests fail: sh test/mutants/run.sh BUILD [WORD]
#
# A line of list.txt is   FILE | SED COMMAND | TEST...   A test is a test program (measure/test_metrics) or a file of
# test/cli (plot.t). With WORD, only lines that contain WORD are run.
# The environment must have CC, FLAGS, LIBS, ISAS and an ISA_... for each instruction set (`make mutants` sets them).
# The build must be complete, and is not changed: a changed source is compiled separately and linked in front of the
# library; programs and other changed files are put into a copy of the source tree that consists of links. Each named
# test must first pass without a fault.
build=$(cd "${1:?usage: run.sh BUILD [WORD]}" && pwd) || exit 2
word=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root" || exit 2
work=$build/mutants
rm -rf "$work" && mkdir -p "$work" || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
caught=0 missed=0 broken=0 seen=' '

# Compiles $2, the changed copy of source $1, to objects, and prints the names of the objects.
compile() {
    case $1 in
    *_vec.c) kinds=$ISAS ;;
    *) kinds=base ;;
    esac
    for kind in $kinds; do
        eval "isa=\$ISA_$kind"
        # shellcheck disable=SC2086  # flags are words
        $CC $FLAGS $isa -w -c -o "$work/$kind.o" "$2" || return 1
        echo "$work/$kind.o"
    done
}

# Makes $work/tree, a copy of the source tree by links, in which the file $1 is replaced by the file $2.
plant() {
    rm -rf "$work/tree" && mkdir "$work/tree" && ln -s "$root"/* "$work/tree/" || return 1
    path=$1 at=$work/tree from=$root
    while [ "$path" != "${path#*/}" ]; do
        dir=${path%%/*} path=${path#*/}
        rm -f "$at/$dir" && mkdir "$at/$dir" && ln -s "$from/$dir"/* "$at/$dir/" || return 1
        at=$at/$dir from=$from/$dir
    done
    rm -f "$at/$path" && cp "$2" "$at/$path"
}

# Runs test $1 in the folder $3. The objects $2 replace those of the library; if $2 is empty, the test runs as built.
run_test() {
    case $1 in
    *.t)
        sh "$3/test/cli/run.sh" "$build/bin" "$3/test/cli/$1" ;;
    *)
        program=$build/test/$1
        if [ -n "$2" ]; then
            program=$work/test
            # shellcheck disable=SC2086
            $CC $FLAGS -Itest -w -o "$program" "test/$1.c" $2 "$build/libatomo.a" $LIBS -lcmocka || return 0
        fi
        (cd "$3" && timeout 300 "$program") ;;
    esac >"$work/log" 2>&1
}

# True when every test in $1 passes without a fault. Each test is run only once.
sound() {
    for test in $1; do
        case $seen in *" $test "*) continue ;; esac
        run_test "$test" "" "$root" || { echo "mutants: $test fails without any fault"; return 1; }
        seen="$seen$test "
    done
}

mutant() {
    file=$1 change=$2 tests=$3 objects= tree=$root
    sed "$change" "$file" >"$work/${file##*/}"
    if cmp -s "$file" "$work/${file##*/}"; then
        echo "NO CHANGE  $file  $change"
        broken=$((broken + 1))
        return
    fi
    case $file in
    *.c) objects=$(compile "$file" "$work/${file##*/}" 2>"$work/log" | tr '\n' ' ') ; [ -n "$objects" ] || {
        echo "NO OBJECT  $file  $change"; cat "$work/log"
        broken=$((broken + 1))
        return
    } ;;
    *) plant "$file" "$work/${file##*/}" && tree=$work/tree ;;
    esac
    sound "$tests" || { broken=$((broken + 1)); return; }
    for test in $tests; do
        if run_test "$test" "$objects" "$tree"; then
            echo "SURVIVED   $file  $change  ($test)"
            missed=$((missed + 1))
        else
            echo "caught     $file  $change  ($test)"
            caught=$((caught + 1))
        fi
    done
}

while IFS='|' read -r file change tests; do
    case $file in '' | '#'*) continue ;; esac
    [ -z "$word" ] || case "$file$change$tests" in *"$word"*) ;; *) continue ;; esac
    # shellcheck disable=SC2086  # to trim blanks
    set -- $file
    file=$1
    change=${change# } change=${change% }
    mutant "$file" "$change" "${tests# }"
done <"$here/list.txt"
echo "mutants: $caught caught, $missed survived, $broken that could not be tried"
[ "$missed" = 0 ] && [ "$broken" = 0 ] && [ "$caught" -gt 0 ]
