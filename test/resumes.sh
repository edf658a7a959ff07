#!/bin/sh
# resumes.sh BIN_DIRECTORY [KILLS] -- kills `compare` with SIGKILL at random moments, KILLS times (default 50), each time
# before one codec is finished, and starts it again with --resume. A start must go on at the next record, and the codecs
# with a state at the state of that record. Whenever a run reaches its end, its records but for times must equal those
# of an undisturbed run, and the next one begins afresh.
bin=$(cd "${1:?usage: resumes.sh BIN_DIRECTORY [KILLS]}" && pwd) || exit 2
kills=${2:-50}
PATH=$bin:$PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/atomo-resumes.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work" || exit 1
codecs='qsgd ef+topk:ratio=0.01 powersgd:rank=2 ef21+terngrad joint:bits=1+entry'
all= one=12 # records of a codec: 2 tensors, 3 steps, 2 workers
atomo-bench synth --shape 64x32 --shape 100x30 --steps 3 --workers 2 -q -o g.h5 >/dev/null || exit 1

compare="atomo-bench compare g.h5 --repeats 150 --threads 1 -q"
for c in $codecs; do all="$all -c $c"; done

# Prints a result without its times.
records() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) timed[i] = $i ~ /_ms|_gbps/ }
             { line = ""; for (i = 1; i <= NF; i++) line = line (timed[i] ? "" : $i ","); print line }' "$1"
}

lines() {
    if [ -e r.csv.journal ]; then grep -c '"tensor"' r.csv.journal; else echo 0; fi
}

complain() {
    failed=$((failed + 1))
    echo "FAILED: $1"
}

failed=0 killed=0 late=0 whole=0 most=0 none=0
ms=1000000 # the time of the fastest codec
for c in $codecs; do
    start=$(date +%s%N)
    $compare -c "$c" -o alone.csv --force 2>err || { echo "FAILED undisturbed: $(head -n 1 err)"; exit 1; }
    took=$((($(date +%s%N) - start) / 1000000))
    [ "$took" -gt "$ms" ] || ms=$took
done
$compare $all -o whole.csv 2>err || { echo "FAILED undisturbed: $(head -n 1 err)"; exit 1; }
records whole.csv >want

finish() {
    whole=$((whole + 1))
    records r.csv >got
    cmp -s want got || complain "records of run $whole are not those of an undisturbed run"
    [ ! -e r.csv.journal ] || complain "run $whole leaves its journal"
    rm -f r.csv r.csv.journal
}

while [ "$killed" -lt "$kills" ] && [ "$failed" -lt 5 ]; do
    [ $((late + whole)) -le $((10 * kills + 20)) ] || { complain "$late starts ended later than one codec: the machine is faster than before"; break; }
    limit=$(od -An -N4 -tu4 /dev/urandom | awk -v ms="$ms" '{ printf "%.4f", (0.1 + 0.5 * $1 / 4294967296) * ms / 1000 }')
    before=$(lines)
    timeout -s KILL "$limit" $compare $all -o r.csv --resume >/dev/null 2>err
    code=$?
    [ "$code" != 0 ] || { finish; continue; }
    [ "$code" = 137 ] || complain "exit code $code: $(head -n 1 err)"
    gain=$(($(lines) - before))
    [ "$gain" -ge 0 ] || complain "a start with $before records left $((before + gain))"
    [ "$gain" -lt $one ] || { late=$((late + 1)); continue; } # not within one codec
    killed=$((killed + 1))
    [ "$gain" -le "$most" ] || most=$gain
    [ "$gain" -gt 0 ] || none=$((none + 1))
done
$compare $all -o r.csv --resume >/dev/null 2>err || complain "the last start ended: $(head -n 1 err)"
finish
echo "resumes: $killed kills, each within one codec of $one records ($most finished at most, none at $none kills), $late later, $whole runs to the end, $failed failed"
[ "$failed" = 0 ]
