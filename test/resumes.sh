#!/bin/sh
# resumes.sh BIN_DIRECTORY [KILLS] -- kills compare, sweep and training with SIGKILL at random moments, KILLS times each (default
# 50), and starts them again with --resume. No finished record may be lost. A run that reaches its end must have the records
# (pooled ones, too), weights and saved gradients of an undisturbed run, but for times; the next one begins afresh.
bin=$(cd "${1:?usage: resumes.sh BIN_DIRECTORY [KILLS]}" && pwd) || exit 2
kills=${2:-50}
PATH=$bin:$PATH
SRC=$(cd "$(dirname "$0")/.." && pwd)
export SRC
work=$(mktemp -d "${TMPDIR:-/tmp}/atomo-resumes.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work" && sh "$SRC"/test/cli/tiny.sh || exit 1
atomo-bench synth --shape 64x32 --shape 100x30 --shape 10 --steps 3 --workers 2 -q -o g.h5 >/dev/null || exit 1
failed=0

complain() {
    failed=$((failed + 1))
    echo "FAILED: $name: $1"
}

# Prints a result without its times.
records() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) timed[i] = $i ~ /_ms|_gbps|_seconds/ }
             { line = ""; for (i = 1; i <= NF; i++) line = line (timed[i] ? "" : $i ","); print line }' "$1"
}

lines() {
    if [ -e r.csv.part ]; then grep -c '' r.csv.part; else echo 0; fi
}

check_end() { # argument: the exit code
    ends=$((ends + 1))
    [ "$1" = 0 ] || complain "exit code $1: $(head -n 1 err)"
    records r.csv | cmp -s - want/records || complain "records of run $ends are not those of an undisturbed run"
    for f in d r.h5; do
        [ ! -e "want/$f" ] || diff -r "want/$f" "$f" >/dev/null || complain "$f of run $ends is not that of an undisturbed run"
    done
    [ -z "$(ls -d r.csv.part r.h5.parts d/*/*/.[!.]* 2>/dev/null)" ] || complain "run $ends leaves $(ls -d r.*part* d/*/*/.[!.]*)"
    rm -rf r.csv d r.h5
}

try() { # arguments: true if a later start may have fewer lines, as training has that goes back to a checkpoint; the command
    back=$1 name=$3 killed=0 ends=0
    shift
    start=$(date +%s%N)
    "$@" >/dev/null 2>err || { complain "undisturbed: $(head -n 1 err)"; return; }
    ms=$((($(date +%s%N) - start) / 1000000))
    rm -rf want && mkdir want && records r.csv >want/records && rm r.csv
    for f in d r.h5; do [ ! -e $f ] || mv $f want; done
    while [ $killed -lt "$kills" ] && [ $failed -lt 5 ] && [ $ends -lt $((20 * kills)) ]; do
        limit=$(od -An -N4 -tu4 /dev/urandom | awk -v ms=$ms '{ printf "%.4f", (5 + 0.4 * ms * $1 / 4294967296) / 1000 }')
        before=$(lines)
        rm -f pid
        timeout -s KILL "$limit" sh -c 'echo $$ >pid && exec "$@"' sh "$@" --resume >/dev/null 2>err
        code=$?
        while kill -0 "$(cat pid 2>/dev/null)" 2>/dev/null; do sleep 0.01; done # timeout ends before the process that it kills
        [ $code = 137 ] || { check_end $code; continue; }
        killed=$((killed + 1))
        [ -e r.csv ] || $back || [ "$(lines)" -ge $((before - 1)) ] || complain "a start with $before lines left $(lines)"
    done
    "$@" --resume >/dev/null 2>err
    check_end $?
    echo "resumes: $name: $killed kills, $ends runs to the end"
}

try false atomo-bench compare g.h5 -q --threads 1 --repeats 40 -c qsgd -c ef+topk:ratio=0.01 -c powersgd:rank=2 -c joint:bits=1+entry -o r.csv
try false atomo-bench compare g.h5 -q --threads 1 --repeats 40 --memory 60k -c ef21+terngrad -c qsgd --metrics bytes,mse,wasserstein,elem_error -o r.csv
try false atomo-bench sweep g.h5 -q --threads 1 --repeats 10 -c qsgd -c svd --rates 1,2,4 -o r.csv
try true atomo-train run --network softmax --dataset mnist --max-steps 60 --eval-freq 10 --batch-size 8 --workers 2 -c ef+topk:ratio=0.01 -c qsgd \
    --seeds 2 --target-accuracy 0.1 --train-dir d --threads 1 -q -o r.csv
try true atomo-train run --network softmax --dataset mnist --max-steps 100 --eval-freq 10 --batch-size 8 --workers 2 -c ef+topk:ratio=0.01 \
    --train-dir d --dump-gradients r.h5 --dump-freq 20 --dump-workers --threads 1 -q -o r.csv
echo "resumes: $failed failed"
[ $failed = 0 ]
