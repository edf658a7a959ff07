#!/bin/sh
# listcheck.sh -- what a release wants of the lists of codecs: sh test/listcheck.sh BIN_DIRECTORY. Fails when a codec of
# lib/compress/all.c is missing in a list that names codecs by hand (the table of README.md, the fuzz target of decoders, the
# independent decoder, the page of formats), or when docs/compressors.md is not what the codecs say of themselves.
bin=$(cd "${1:?usage: listcheck.sh BIN_DIRECTORY}" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 1
bad=0

# The codec's name, what is missing where, then a pattern and the files one line of which is to match it.
want() {
    name=$1 what=$2 pattern=$3
    shift 3
    grep -q -e "$pattern" "$@" && return
    echo "codec $name: $what"
    bad=1
}

names=$(sed -n 's/^ *X(\([a-z0-9]*\)).*/\1/p' lib/compress/all.c)
[ -n "$names" ] || { echo "lib/compress/all.c: no line X(name)"; exit 1; }
for codec in $names; do
    want "$codec" 'no row of the table of codecs in README.md names it' "^|.*\`$codec[\`+:]" README.md
    want "$codec" 'no spec of test/fuzz/fuzz_decode.c has it' "^ *\".*\<$codec[+:\"]" test/fuzz/fuzz_decode.c
    want "$codec" 'not in test/reference/decode.py, nor in its wrappers.py and sketches.py' "\"$codec\"" \
        test/reference/decode.py test/reference/wrappers.py test/reference/sketches.py
    want "$codec" 'docs/FORMAT.md does not name it' "\<$codec\>" docs/FORMAT.md
done
"$bin"/atomo-bench list --details --format md | cmp -s - docs/compressors.md || {
    echo "docs/compressors.md is not what the codecs say: make docs"
    bad=1
}
exit $bad
