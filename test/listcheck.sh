#!/bin/sh
# listcheck.sh -- checks the lists of codecs against lib/compress/: sh test/listcheck.sh BIN_DIRECTORY [--write]
#
# Every codec must have a row in README.md's table and a section or line in docs/FORMAT.md; a line says which are not in
# the independent decoder; every name in the table's first column must be a codec; docs/generated/compressors.md must be the output of
# `list --details`. With --write, nothing is checked: the script writes docs/generated/compressors.md and adds missing rows to
# README.md's table.
bin=$(cd "${1:?usage: listcheck.sh BIN_DIRECTORY [--write]}" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 1
bad=0

# Complains about a codec unless some line of the files matches a pattern. Arguments: codec, complaint, pattern,
# files.
want() {
    name=$1 what=$2 pattern=$3
    shift 3
    grep -q -e "$pattern" "$@" && return
    echo "codec $name: $what"
    bad=1
}

row() {
    printf '^|[^|]*`%s[`+:][^|]*|' "$1"
}

names=$(sed -n 's/^.*const Compressor compressor_\([a-z0-9]*\) = {$/\1/p' lib/compress/*/*.c)
[ -n "$names" ] || { echo "lib/compress: no compressor"; exit 1; }

here=$("$bin"/atomo-bench list -f csv | cut -d, -f1)
left_out=$(for name in $names; do echo "$here" | grep -qx "$name" || printf ' %s' "$name"; done)
[ -z "$left_out" ] || [ "$left_out" = " zfp" ] || { echo "lib/compress/all.c does not list$left_out"; exit 1; }
[ -z "$left_out" ] || { echo "skip: listcheck: this build lacks$left_out"; exit 0; }

if [ "$2" = --write ]; then
    "$bin"/atomo-bench list --details --format md -o docs/generated/compressors.md || exit 1
    for codec in $names; do
        grep -q "$(row "$codec")" README.md && continue
        brief=$(sed -n "/^## $codec\$/{n;n;p;}" docs/generated/compressors.md)
        sed "/^| \`joint\`/i | \`$codec\` | $brief |" README.md >README.md.new && mv README.md.new README.md || exit 1
    done
    exit 0
fi

for codec in $names; do
    want "$codec" 'no row of the table in README.md names it: make golden' "$(row "$codec")" README.md
    want "$codec" 'docs/FORMAT.md does not describe its payload' "\<$codec\>" docs/FORMAT.md
    grep -q "\"$codec\"" test/reference/decode.py test/reference/wrappers.py test/reference/sketches.py test/reference/science.py test/reference/blockfloats.py ||
        echo "note: codec $codec is not in the independent decoder, test/reference/decode.py"
done
for name in $(sed -n '/^| `none`/,/^$/s/^|\([^|]*\)|.*/\1/p' README.md | grep -o '`[a-z0-9]*' | tr -d '`'); do
    echo "$names" | grep -qx "$name" || { echo "README.md: no codec is called $name"; bad=1; }
done
"$bin"/atomo-bench list --details --format md | cmp -s - docs/generated/compressors.md || {
    echo "docs/generated/compressors.md is not what the codecs say: make golden"
    bad=1
}
exit $bad
