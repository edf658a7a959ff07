#!/bin/sh
# run.sh -- runs the programs as a user would: sh test/cli/run.sh BIN_DIRECTORY [FILE.t]...
# A case fails after ten minutes, as its command must be hanging; even on a slow machine or with sanitizers, a case
# takes much less time.
#
# A case in a .t file:
#     # what it shows
#     ? command [# reason]  only where this succeeds (optional); where it fails, the reason is printed, or the command
#     $ command             run by sh in a new empty directory; the programs are in PATH, $SRC is the source tree, $PUBLIC
#                           the folder of libatomo, $G a small dump (synth --shape 64x32)
#     > glob                some line of stdout matches; alone: stdout is empty
#     2> glob               some line of stderr matches; alone: stderr is empty
#     - glob                no line of either matches
#     = code                the exit code; ends the case
# In a glob, a backslash quotes the character that follows it.
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${1:?usage: run.sh BIN_DIRECTORY [FILE.t]...}" && pwd) || exit 2
shift
[ $# -gt 0 ] || set -- "$here"/*.t
SRC=$(cd "$here/../.." && pwd)
PUBLIC=${bin%/bin}/public
work=$(mktemp -d "${TMPDIR:-/tmp}/atomo-cli.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
case $SRC$bin in *' '*) # the cases write these paths without quotes
    ln -s "$SRC" "$work/source" && ln -s "$bin" "$work/bin" && ln -s "$PUBLIC" "$work/public" || exit 1
    SRC=$work/source bin=$work/bin PUBLIC=$work/public ;;
esac
PATH=$bin:$PATH
G=$SRC/test/cli/g.npz
export SRC PATH PUBLIC G
# `make` says which Python its tests run; elsewhere python3 may be a script that chooses one, and takes four times as long to start.
python=${PYTHON:-/usr/bin/python3} && [ -x "$python" ] && PATH=$bin:${python%/*}:$PATH
unset NO_COLOR
TERM=dumb LC_ALL=C.UTF-8 # awk, sort and the messages of other programs differ by language
export TERM LC_ALL
passed=0 failed=0 skipped=0 cases=0 tried=

# True when some line of the file $1 matches the glob $2.
has_line() {
    while IFS= read -r text || [ -n "$text" ]; do
        # shellcheck disable=SC2254  # the pattern is meant to be one
        case $text in $2) return 0 ;; esac
    done <"$1"
    return 1
}

run_case() {
    cases=$((cases + 1))
    room=$work/$cases out=$work/$cases.out err=$work/$cases.err # processes that an earlier case left running write to other files
    mkdir "$room"
    (cd "$room" && exec timeout 600 sh -c "$command") >"$out" 2>"$err" </dev/null
    code=$?
    why=
}

# Whether the condition $1 holds. Each one is tried once.
holds() {
    case $tried in
    *"|yes $1|"*) return 0 ;;
    *"|no $1|"*) return 1 ;;
    esac
    if sh -c "$1" >/dev/null 2>&1 </dev/null; then
        tried="$tried|yes $1|"
    else
        tried="$tried|no $1|"
        return 1
    fi
}

complain() {
    why="$why
    $1"
}

expect() { # arguments: file, name of the file, glob
    if [ -z "$3" ]; then
        [ -s "$1" ] && complain "$2 is not empty"
    elif ! has_line "$1" "$3"; then
        complain "$2 has no line like: $3"
    fi
}

refuse() { # argument: glob
    if has_line "$out" "$1" || has_line "$err" "$1"; then
        complain "a line is like: $1"
    fi
}

end_case() { # argument: expected exit code
    [ "$code" = "$1" ] || complain "exit code $code, want $1"
    if [ -z "$why" ]; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    printf '%s\n' "FAILED: $file:$number: $title$why" "    command: $command"
    sed -e 's/^/    stdout: /' -e 20q "$out"
    sed -e 's/^/    stderr: /' -e 20q "$err"
}

not_ended() {
    echo "FAILED: $file:$number: the case before has no exit code"
    failed=$((failed + 1))
}

run_file() {
    number=0 title= skip= open=
    while IFS= read -r line || [ -n "$line" ]; do
        number=$((number + 1))
        case $line in
        '#'*) title=${line#'# '} ;;
        '? '*) holds "${line#'? '}" || skip=yes why=${line#'? '} why=${why#*' # '} ;;
        '$ '*) [ -z "$open" ] || not_ended
               command=${line#'$ '} open=yes
               if [ -n "$skip" ]; then
                   skipped=$((skipped + 1))
                   echo "SKIP $title (not so here: $why)"
               else
                   run_case
               fi ;;
        '' ) ;;
        '>') [ -n "$skip" ] || expect "$out" stdout '' ;;
        '> '*) [ -n "$skip" ] || expect "$out" stdout "${line#'> '}" ;;
        '2>') [ -n "$skip" ] || expect "$err" stderr '' ;;
        '2> '*) [ -n "$skip" ] || expect "$err" stderr "${line#'2> '}" ;;
        '- '*) [ -n "$skip" ] || refuse "${line#'- '}" ;;
        '= '*) [ -n "$skip" ] || end_case "${line#'= '}"
               skip= open= ;;
        *) echo "FAILED: $file:$number: not a case line: $line"
           failed=$((failed + 1)) ;;
        esac
    done <"$1"
    [ -z "$open" ] || not_ended
}

for path; do
    file=$(basename "$path")
    run_file "$path"
done
echo "cli: $passed cases passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
