#!/bin/sh
# kills.sh BIN_DIRECTORY [KILLS] -- kills commands with SIGKILL at random moments, KILLS times in all (default 60), in turn.
# After each kill, an output must be as it was, or whole; when the command ends by itself, its output must equal that of an
# undisturbed run. A kill may leave one temporary file. resumes.sh kills what --resume continues.
bin=$(cd "${1:?usage: kills.sh BIN_DIRECTORY [KILLS]}" && pwd) || exit 2
kills=${2:-60}
PATH=$bin:$PATH
SRC=$(cd "$(dirname "$0")/.." && pwd)
export SRC
work=$(mktemp -d "${TMPDIR:-/tmp}/atomo-kills.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/base" "$work/tmp"
TMPDIR=$work/tmp
export TMPDIR
failed=0 killed=0 ended=0 leavings=0
newline='
'

cd "$work/base" && sh "$SRC"/test/cli/tiny.sh || exit 1
atomo-bench synth --shape 64x32 --shape 100x30 --shape 10 --steps 3 --workers 2 -q -o g.h5 >/dev/null &&
    atomo-bench synth --shape 2000x500 --shape 30 -q -o big.h5 >/dev/null &&
    atomo-bench encode big.h5 -c topk:ratio=0.3 -q -o big.atomo >/dev/null &&
    atomo-bench compare g.h5 -c none -c qsgd -q --repeats 2 -o c.csv && mkdir d && cp c.csv d || exit 1

# A line: the output, then the command, which replaces it.
cat >"$work/commands" <<END
out.atomo atomo-bench encode big.h5 -c qsgd -q --threads 1 --force -o out.atomo
out.h5 atomo-bench decode big.atomo -q --threads 1 --force -o out.h5
out.h5 atomo-bench convert big.h5 out.h5 -q --force
out.npz atomo-bench convert big.h5 out.npz -q --force
out.html atomo-bench report d -q --force -o out.html
out.svg atomo-bench plot pareto c.csv -q --force -o out.svg
END

complain() {
    failed=$((failed + 1))
    echo "FAILED: $command: $1 (after $(echo "$delay" | cut -c1-6) s)"
}

fresh() {
    rm -rf "$work/run" && cp -r "$work/base" "$work/run" && cd "$work/run" || exit 1
    for f in $outputs; do echo before >"$f"; done
}

# Looks at what is left in the folder.
judge() { # argument: true if the command ended by itself
    for f in $outputs; do
        if [ -e "$f" ] && [ "$(head -c 7 "$f" | tr -d '\000')" = before ]; then
            [ "$1" = false ] || complain "$f is as it was"
        elif [ -e "$f" ]; then
            cmp -s "$f" "$work/whole/$number/$f" || complain "$f is not that of an undisturbed run"
        elif [ "$1" = true ]; then
            complain "no $f"
        fi
    done
    left=$(find . -name '*.tmp')
    case $1$left in
    false | true) ;;
    false*"$newline"* | true*) complain "leaves $left" ;;
    *) leavings=$((leavings + 1)) && rm -f "$left" ;;
    esac
}

setup() { # measures the command undisturbed
    fresh
    start=$(date +%s%N)
    $command >/dev/null 2>"$work/err" </dev/null || { echo "FAILED undisturbed: $command: $(head -n 1 "$work/err")"; exit 1; }
    length=$((($(date +%s%N) - start) / 1000000))
    mkdir -p "$work/whole/$number" && mv "$work/run" "$work/whole/$number/all" && (cd "$work/whole/$number/all" && cp -r . ..)
    fresh && mv "$work/run" "$work/at.$number"
    echo "$length" >"$work/length.$number"
}

kill_once() {
    length=$(cat "$work/length.$number")
    delay=$(od -An -N4 -tu4 /dev/urandom | awk -v ms="$length" '{printf "%.4f", 0.005 + 0.0011 * ms * $1 / 4294967296}')
    rm -rf "$work/run" && mv "$work/at.$number" "$work/run" && cd "$work/run" || exit 1
    timeout -s KILL "$delay" sh -c 'echo $$ >"$0" && exec "$@"' "$work/pid" $command >/dev/null 2>"$work/err" </dev/null
    code=$?
    while kill -0 "$(cat "$work/pid" 2>/dev/null)" 2>/dev/null; do sleep 0.01; done # timeout ends before the process that it kills
    case $code in
    137) killed=$((killed + 1)) && judge false ;;
    0)
        ended=$((ended + 1))
        judge true
        fresh
        ;;
    *) complain "code $code: $(head -n 1 "$work/err")" ;;
    esac
    cd "$work" && mv "$work/run" "$work/at.$number"
}

number=0
while read -r outputs command <&3; do
    outputs=$(echo "$outputs" | tr , ' ')
    number=$((number + 1))
    setup
done 3<"$work/commands"
while [ "$killed" -lt "$kills" ] && [ "$failed" -lt 20 ]; do
    number=0
    while read -r outputs command <&3; do
        outputs=$(echo "$outputs" | tr , ' ')
        number=$((number + 1))
        [ "$killed" -ge "$kills" ] || kill_once
    done 3<"$work/commands"
done
# each command ends by itself from where its last kill left it
number=0
while read -r outputs command <&3; do
    outputs=$(echo "$outputs" | tr , ' ')
    number=$((number + 1)) delay=0
    cd "$work/at.$number" && $command >/dev/null 2>"$work/err" </dev/null || complain "code $?: $(head -n 1 "$work/err")"
    judge true
done 3<"$work/commands"
left=$(ls -A "$work/tmp" | grep -v '^atomo-plot' | head -n 1) # a SIGKILL leaves gnuplot's folder
[ -z "$left" ] || { echo "FAILED: TMPDIR has $left"; failed=$((failed + 1)); }
echo "kills: $killed kills, $ended runs that ended before theirs, $failed failed; a temporary file was there after $leavings kills"
[ "$failed" = 0 ]
