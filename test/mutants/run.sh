#!/bin/sh
# run.sh -- plants the faults of list.txt, one at a time, and checks that the tests named beside each fail.
#
#     sh test/mutants/run.sh BUILD [WORD]      plants them; with WORD, only those whose line holds it
#     sh test/mutants/run.sh -n                only checks that each fault changes its file and that its tests exist
#
# BUILD is a folder of `make` (build/release). The run copies tree and build into a folder of its own and makes the tests there, so that
# make itself compiles the changed file and links what was named; several runs may go on at once. FROM=N (environment) starts at the
# N-th of the chosen faults, where a run ended early. CC and MAKE come from the environment too.
#
# One line a fault says `caught` with the first failing case of each test, or `SURVIVED`, or `ERROR` where it could not be tried: a
# pattern that changes nothing, a file that no longer compiles, a program that does not link, a test that fails without the fault.
# Exits 1 on one that survived or could not be tried. A fault whose tests skip here (no numpy) is named and does not count.
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root" || exit 2
work=$(mktemp -d "${TMPDIR:-/tmp}/atomo-mutants.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
tree=$work/tree log=$work/log
caught=0 missed=0 broken=0 skipped=0 sound=' ' count=0

# The tests exist, and change $2 changes file $1; $work/changed is the result.
applies() { # file, change, tests
    [ -f "$1" ] || { why="no such file"; return 1; }
    sed -- "$2" "$1" >"$work/changed" 2>"$log" || { why="sed refuses the change"; return 1; }
    ! cmp -s "$1" "$work/changed" || { why="the change finds nothing to change"; return 1; }
    [ -n "$3" ] || { why="no test is named"; return 1; }
    for test in $3; do
        case $test in
        torture-*) test=torture.py ;;
        *.t) test=cli/$test ;;
        python-*) test=python/test_${test#*-}.py ;;
        reference-*) test=reference/check_${test#*-}.py ;;
        *) test=$test.c ;;
        esac
        [ -f "test/$test" ] || { why="no test/$test"; return 1; }
    done
}

remake() {
    ${MAKE:-make} --no-print-directory -C "$tree" ${CC:+CC="$CC"} "$@" >"$log" 2>&1
}

# Makes what test $1 runs.
build_test() {
    case $1 in
    *.t | python-* | reference-* | torture-*) remake all ;;
    *) remake "$build/test/$1" ;;
    esac
}

run_test() {
    case $1 in
    torture-*) (cd "$tree" && timeout 1200 python3 test/torture.py "$build/bin" "${1#*-}") ;;
    *.t) (cd "$tree" && timeout 1200 sh test/cli/run.sh "$build/bin" "test/cli/$1") ;;
    python-* | reference-*) timeout 1200 "${MAKE:-make}" --no-print-directory -C "$tree" "$1" ;;
    *) (cd "$tree" && timeout 300 "$build/test/$1") ;;
    esac >"$log" 2>&1
}

# The first failing case that the log names.
failing_case() {
    sed -n -e 's/^\[  FAILED  \] \([a-z][a-z0-9_]*\).*/\1/p' -e 's/^FAILED: [a-z-]*\.t:\([0-9]*\): .*/line \1/p' \
        -e 's/^FAIL: \([a-z_0-9]*\).*/\1/p' "$log" | head -n 1
}

# Whether each of the tests passes without a fault; each runs once.
sound() {
    for test in $1; do
        case $sound in *" $test "*) continue ;; esac
        build_test "$test" || { why="$test cannot be made without any fault"; return 1; }
        run_test "$test" || { why="$test fails without any fault"; return 1; }
        ! grep -q "^skip: $test\|^skip: python/test_${test#*-}:\|python/test_${test#*-}: skip" "$log" || { why="$test skips"; return 2; }
        sound="$sound$test "
    done
}

# Sets why: the tests with their failing cases, those that see nothing, or the error.
plant() { # tests
    seen= unseen=
    for test in $1; do
        build_test "$test" || { why="does not compile or link: $(grep -m 1 'error\|undefined' "$log")"; return 2; }
        if run_test "$test"; then
            unseen="$unseen $test"
        else
            seen="$seen $test: $(failing_case)"
        fi
    done
    why="${unseen:-$seen}"
    [ -z "$unseen" ]
}

say() { # verdict
    printf '%3d %-8s %s  %s  (%s)\n' "$count" "$1" "$file" "$change" "${why# }"
}

mutant() {
    applies "$file" "$change" "$tests" || { broken=$((broken + 1)); say ERROR; return; }
    [ -n "$build" ] || return
    sound "$tests"
    case $? in
    1) broken=$((broken + 1)); say ERROR; return ;;
    2) skipped=$((skipped + 1)); say skipped; return ;;
    esac
    cp "$work/changed" "$tree/$file"
    plant "$tests"
    case $? in
    0) caught=$((caught + 1)); say caught ;;
    1) missed=$((missed + 1)); say SURVIVED ;;
    *) broken=$((broken + 1)); say ERROR ;;
    esac
    cp "$file" "$tree/$file"
}

build= word=$2
if [ "$1" != -n ]; then
    build=${1:?usage: run.sh BUILD [WORD], or run.sh -n}
    mkdir -p "$tree/$build" || exit 2
    for part in *; do
        [ "$part" = build ] || cp -a "$part" "$tree" || exit 2
    done
    cp -a "$build/." "$tree/$build" && cp -a build/*.c "$tree/build" || exit 2
fi
while IFS='|' read -r file change tests; do
    case $file in '' | '#'*) continue ;; esac
    [ -z "$word" ] || case "$file$change$tests" in *"$word"*) ;; *) continue ;; esac
    count=$((count + 1))
    [ "$count" -ge "${FROM:-1}" ] || continue
    file=${file% } change=${change# } change=${change% } tests=${tests# }
    mutant </dev/null
done <"$here/list.txt"
if [ -n "$build" ]; then
    echo "mutants: $caught caught, $missed survived, $broken that could not be tried, $skipped whose tests skip here"
else
    echo "mutants: $count faults, $broken of them stale"
fi
[ "$missed" = 0 ] && [ "$broken" = 0 ] && [ "$count" -gt 0 ]
