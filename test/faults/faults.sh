#!/bin/sh
# faults.sh BIN_DIRECTORY SHIM.so [POINTS] -- runs each command with failing C library calls: allocations, and calls
# that open, read, write, sync, rename, close, map, fork, or make pipes and shared memory. A call fails once, or this
# call and all later ones fail; calls also fail with EINTR or transfer half of the bytes. Of each class of calls, at
# most POINTS calls (default 25; 0: all), spread evenly, are made to fail.
# Each run must end within 20 seconds. Its exit code must be 0, with the same result as without faults, or 1, with one
# line of message and every output complete or unchanged. A run may leave no temporary file, and no more allocated
# memory than a run without faults.
bin=$(cd "${1:?usage: faults.sh BIN_DIRECTORY SHIM.so [POINTS]}" && pwd) || exit 2
shim=$(realpath "${2:?}") points=${3:-25}
PATH=$bin:$PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/atomo-faults.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/base" "$work/run" "$work/tmp"
SRC=$(cd "$(dirname "$0")/../.." && pwd)
export SRC
cd "$work/base" && sh "$SRC"/test/cli/tiny.sh || exit 1
failed=0 runs=0

atomo-bench synth --shape 20x12 --shape 6 --steps 2 --workers 2 -q -o g.h5 >/dev/null && atomo-bench encode g.h5 -c qsgd -q -o g.atomo >/dev/null &&
    atomo-bench compare g.h5 -c none -c qsgd -q --repeats 2 -o c.csv && mkdir d && cp c.csv d &&
    atomo-train run --network softmax --dataset mnist --batch-size 4 --max-steps 1 --eval-freq 1 --train-dir saved -q -o r.csv >/dev/null || exit 1
for f in out.csv out.atomo out.h5 out.html out.svg; do echo before >$f; done

# The metrics do not depend on a clock, so that results can be compared.
commands() {
    cat <<END
compare g.h5 -c qsgd -c ef+topk --repeats 2 --metrics bytes,mse -q --threads 1 --force -o out.csv
sweep g.h5 -c qsgd --rates 1,2 --repeats 2 --metrics bytes,mse -q --threads 1 --force -o out.csv
merge g.h5 -c qsgd --workers 2 --repeats 2 -q --threads 1 --force -o out.csv
encode g.h5 -c topk -q --threads 1 --force -o out.atomo
decode g.atomo -q --threads 1 --force -o out.h5
report d -q --force -o out.html
plot pareto c.csv -q --force -o out.svg
train run --network softmax --dataset mnist --max-steps 2 --eval-freq 1 --batch-size 4 --workers 2 --train-dir t --dump-gradients out.h5 --dump-freq 1 --threads 1 -q --force -o out.csv
train eval --train-dir saved -q --force -o out.csv
train tune --network softmax --dataset mnist --max-steps 2 --points 2 --batch-size 4 --threads 1 -q --force -o out.csv
END
}

# Runs the command in a fresh copy of the folder. Sets $code; writes the output to the files out and err.
go() {
    rm -rf "$work/run" "$work/tmp" && cp -r "$work/base" "$work/run" && mkdir "$work/tmp" && cd "$work/run" || exit 1
    # shellcheck disable=SC2086
    timeout -s KILL 20 env FAULT_LOG="$work/log" TMPDIR="$work/tmp" LD_PRELOAD="$shim" $command >"$work/out" 2>"$work/err" </dev/null
    code=$?
}

complain() {
    failed=$((failed + 1))
    echo "FAILED: $command: $1 (FAULT_CLASS=$FAULT_CLASS FAULT_AT=$FAULT_AT FAULT_MODE=$FAULT_MODE): $(head -n 1 "$work/err")"
}

# True when a file is complete. If one of several outputs fails, the others may already be complete.
whole() {
    case $1 in
    *.h5) atomo-bench inspect "$1" >/dev/null 2>&1 ;;
    *.atomo) atomo-bench decode "$1" -q --force -o "$work/decoded.h5" >/dev/null 2>&1 ;;
    *.svg) tail -c 64 "$1" | grep -q '</svg>' ;;
    *.html) tail -c 64 "$1" | grep -q '</html>' ;;
    *.csv) [ "$(tail -c 1 "$1" | od -An -c | tr -d ' ')" = '\n' ] ;;
    *) false ;;
    esac
}

judge() {
    runs=$((runs + 1))
    case $code in
    0) ;;
    1) [ "$(grep -vc '^hint: \|^note: ' "$work/err")" = 1 ] || complain 'not one line' ;;
    *) complain "code $code" ; return ;;
    esac
    for f in out.csv out.atomo out.h5 out.html out.svg; do
        [ $code = 0 ] || cmp -s "$f" "$work/base/$f" || whole "$f" || complain "$f is neither whole nor as it was"
    done
    if [ $code = 0 ] && [ -n "$same" ] && ! cmp -s "$same" "$work/whole"; then complain "another $same"; fi
    [ -z "$(find . -name '*.tmp')" ] || complain "leaves $(find . -name '*.tmp' | head -n 1)"
    for i in 1 2 3 4 5 6 7 8 9 10; do # gnuplot's folder is removed when all processes that use it have ended
        [ -z "$(ls -A "$work/tmp")" ] && break
        sleep 0.1
    done
    [ -z "$(ls -A "$work/tmp")" ] || complain "leaves $(ls -A "$work/tmp" | head -n 1) in TMPDIR"
    now=$(sed -n 's/^live //p' "$work/log" 2>/dev/null)
    [ "${now:-0}" -le "$live" ] || complain "leaks: $now blocks are not freed, $live undisturbed"
}

try() { # arguments: class of calls, number of calls
    step=1
    [ "$points" = 0 ] || step=$((($2 + points - 1) / points))
    modes='once on'
    case $1 in
    read | write) modes='once on eintr short' ;;
    fork | pipe) modes='once on eintr' ;;
    esac
    for FAULT_MODE in $modes; do
        at=1
        while [ "$at" -le "$2" ]; do
            FAULT_CLASS=$1 FAULT_AT=$at
            export FAULT_CLASS FAULT_AT FAULT_MODE
            rm -f "$work/log"
            go
            judge
            at=$((at + step))
        done
    done
    unset FAULT_CLASS FAULT_AT FAULT_MODE
}

commands >"$work/commands"
while read -r line <&3; do
    case $line in
    train*) command=atomo-$line ;;
    *) command="atomo-bench $line" ;;
    esac
    go
    [ "$code" = 0 ] || { echo "FAILED undisturbed: $command: code $code: $(head -n 1 "$work/err")"; failed=$((failed + 1)); continue; }
    same=
    case $line in compare* | sweep*) same=out.csv ;; encode*) same=out.atomo ;; decode*) same=out.h5 ;; esac
    [ -z "$same" ] || cp "$same" "$work/whole"
    cp "$work/log" "$work/counts"
    live=$(sed -n 's/^live //p' "$work/counts")
    [ "${live:-0}" -ge 0 ] || live=0 # it frees more than it allocates after the start of main
    before=$runs
    while read -r class number <&4; do
        [ "$class" = live ] || [ "$number" = 0 ] || try "$class" "$number"
    done 4<"$work/counts"
    echo "$command: $((runs - before)) runs"
done 3<"$work/commands"
echo "faults: $runs runs, $failed failed"
[ "$failed" = 0 ]
