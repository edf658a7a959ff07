#!/bin/sh
# depcheck.sh -- checks the #include lines. It fails if a file includes a file of a directory below its own in the
# list of lib/README.md; if more than one file includes another project's library; if the path of an include does not
# start in lib/; or if two files have the same name.
cd "$(dirname "$0")/.." || exit 1
files=$(git ls-files -co --exclude-standard 'lib/*.[ch]' 'cmd/*.[ch]' 'test/*.[ch]' 2>/dev/null || find lib cmd test -name '*.[ch]')
files=$(for f in $files; do [ -e "$f" ] && echo "$f"; done)
twice=$(printf '%s\n' $files | sed 's|.*/||' | sort | uniq -d)
[ -z "$twice" ] || { echo "more than one file is called" $twice; exit 1; }
rooms=$(sed -n 's/^| `\([a-z/]*\)\/` |.*/\1/p' lib/README.md)
for d in $(find lib -mindepth 1 -type d); do
    ls "$d"/*.[ch] >/dev/null 2>&1 || continue
    d=${d#lib/}
    printf '%s\n' $rooms | grep -qx "${d%%/*}" || { echo "lib/$d: in no room; add it to lib/README.md"; exit 1; }
done
awk -v rooms="$rooms" '
function rank(file,   i, best) {
    if (file ~ /^cmd\//)
        return count + 1
    if (file == "lib/atomo.h")
        file = "lib/library/atomo.h"
    for (i = 1; i <= count; i++)
        if (index(file, "lib/" room[i] "/") == 1 && (!best || length(room[i]) > length(room[best])))
            best = i
    return best
}
BEGIN {
    count = split(rooms, room, "\n")
    only["hdf5.h"] = "lib/dump/tensor_hdf5.*"
    only["dlfcn.h"] = "lib/base/dynamic|lib/math/linalg_load"
    only["fftw3.h"] = "lib/math/fourier_(transform|long)"
    only["dnnl.h"] = "lib/train/onednn"
    only["mpi.h"] = "lib/exchange/net_mpi"
    only["zlib.h"] = "lib/train/datasets|lib/dump/extent"
    only["zstd.h"] = only["zstd_errors.h"] = only["blosc.h"] = "lib/compress/wrap/packed"
    only["zfp.h"] = "lib/compress/science/zfp"
    for (i = 1; i < ARGC; i++)
        known[ARGV[i]]
}
FNR == 1 {
    mine = FILENAME ~ /^test\// ? count + 2 : rank(FILENAME)
    if (!mine) {
        print FILENAME ": in no room; lib/README.md lists them"
        bad = 1
    }
}
/^ *# *include "/ {
    split($0, part, "\"")
    path = "lib/" part[2]
    if (FILENAME ~ /^cmd\// && ("cmd/" part[2]) in known || FILENAME ~ /^test\// && ("test/" part[2]) in known)
        next
    if (FILENAME ~ /^test\// && part[2] ~ /^cmd\// && part[2] in known) # a test of a command has its statics
        next
    if (!(path in known)) {
        print FILENAME ":" FNR ": \"" part[2] "\" is not written from lib/"
        bad = 1
    } else if (rank(path) > mine) {
        print FILENAME ":" FNR ": includes " path ", whose room stands below its own in lib/README.md"
        bad = 1
    }
}
/^ *# *include </ {
    header = $0
    gsub(/.*<|>.*/, "", header)
    allowed = FILENAME
    sub(/\.[ch]$/, "", allowed)
    if (header in only && FILENAME ~ /^lib|^cmd/ && allowed !~ ("^(" only[header] ")$")) {
        print FILENAME ":" FNR ": " header " belongs in " only[header] " alone"
        bad = 1
    }
}
END { exit bad }
' $files
