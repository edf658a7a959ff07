#!/bin/sh
# limits.sh BIN_DIRECTORY [all] -- runs the programs under limits on address space, data, open files, processes, stack and
# file size. Each run must give its result, or print one line on stderr (and perhaps a hint) that names the exhausted
# resource; an output file must be complete or unchanged. With `all`, each run must end within ten seconds. Without
# `all`, two or three values of each limit are tried, and a run may take a minute, since other programs may be running.
bin=$(cd "${1:?usage: limits.sh BIN_DIRECTORY [all]}" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
all=$2
patience=$([ "$all" ] && echo 10 || echo 60)
PATH=$bin:$PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/atomo-limits.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work" || exit 1
failed=0 runs=0 refused=0
outputs='out.csv out.atomo out.h5 out.svg out.html'

SRC=$(cd "$here/.." && pwd)
export SRC
sh "$here/cli/tiny.sh" || exit 1
atomo-bench synth --shape 60x50 --shape 10 --steps 2 -q -o g.h5 >/dev/null && atomo-bench encode g.h5 -c qsgd -q -o g.atomo >/dev/null &&
    atomo-bench compare g.h5 -c none -c qsgd -q -o c.csv && mkdir d && cp c.csv d &&
    atomo-train run --network softmax --dataset mnist --batch-size 4 --max-steps 1 --eval-freq 1 --train-dir t -q -o r.csv >/dev/null || exit 1
cat >commands <<END
atomo-bench --version
atomo-bench list
atomo-bench inspect g.h5
atomo-bench encode g.h5 -c qsgd -q --force -o out.atomo
atomo-bench compare g.h5 -c qsgd -c svd --repeats 2 -q --force -o out.csv
atomo-bench decode g.atomo -q --force -o out.h5
atomo-bench plot pareto c.csv -q --force -o out.svg
atomo-bench report d -q --force -o out.html
atomo-train run --network softmax --dataset mnist --batch-size 4 --max-steps 2 --workers 2 -q --force -o out.csv
atomo-train eval --train-dir t -q --force -o out.csv
END

# Prints what is wrong with the run that has just ended.
judge() { # arguments: name of the limit, command, exit code
    runs=$((runs + 1))
    why=
    if [ "$3" != 0 ]; then
        refused=$((refused + 1))
        first=$(head -n 1 err)
        if [ "$3" = 127 ] && grep -q 'error while loading shared libraries' err; then
            return # the loader failed, so the program has not started
        elif [ "$3" != 1 ]; then
            why="code $3"
        elif [ "$(grep -vc '^hint: \|^note: ' err)" != 1 ]; then
            why='not one line'
        elif ! grep -qi 'memory\|limit\|too many open files\|temporarily unavailable\|address space\|too large' err; then
            why='names no limit'
        fi
    fi
    for f in $outputs; do
        [ ! -e $f ] || [ "$3" = 0 ] || [ "$(cat $f)" = before ] || why="$why; $f is neither whole nor as it was"
    done
    leavings=$(find . -name '.*.tmp' | head -n 1)
    [ -z "$leavings" ] || why="$why; leaves $leavings"
    if [ -n "$why" ]; then
        failed=$((failed + 1))
        echo "FAILED: $1: $2: $why${first:+: $first}"
    fi
}

try() { # arguments: flag of ulimit, value
    while read -r command; do
        for f in $outputs; do echo before >$f; done
        rm -rf out.csv.journal out.plot.csv
        if [ "$1" = u ]; then
            # shellcheck disable=SC2086
            timeout -s KILL $patience setpriv --reuid 65534 --clear-groups prlimit --nproc="$2" $command >/dev/null 2>err
        else
            (ulimit "-$1" "$2" && exec timeout -s KILL $patience $command) >/dev/null 2>err
        fi
        judge "ulimit -$1 $2" "$command" $?
    done <commands
}

series() { # arguments: flag, first value, last value, step; the values without `all`
    flag=$1
    # shellcheck disable=SC2046  # a value is a word
    [ -z "$all" ] || set -- 1 2 3 4 $(seq "$2" "$4" "$3")
    shift 4
    for value; do try "$flag" "$value"; done
}

if nm -D "$bin/atomo-bench" 2>/dev/null | grep -q asan; then
    echo 'SKIP limits on address space and data (a build with AddressSanitizer)'
else
    series v 40000 2000000 10000  40000 430000
    series d 20000 500000 15000  15000 120000
fi
series n 4 16 1  4 8 12
series s 20 64 4  20 24
series s 128 1024 64  384
series f 1 41 4  1 21
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups test -x "$bin/atomo-bench" 2>/dev/null; then
    chmod -R a+rwX .
    series u 1 8 1  1 4
else
    echo 'SKIP limits on processes (root only, and a directory that others can read)'
fi

# Small steps where a tensor of 160 kB just fits, or does not: stacks and tables of FFTW grow there.
if ! nm -D "$bin/atomo-bench" 2>/dev/null | grep -q asan; then
    atomo-bench synth --shape 400x100 -q -o m.h5 >/dev/null
    for codec in qsgd fourier; do echo "atomo-bench compare m.h5 -c $codec --repeats 2 -q --force -o out.csv"; done >commands
    # shellcheck disable=SC2046
    series v 52000 70000 400  $(seq 52000 800 70000)
fi
echo "limits: $runs runs, $refused ended with a message, $failed failed"
[ "$failed" = 0 ]
