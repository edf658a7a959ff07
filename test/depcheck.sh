#!/bin/sh
# depcheck.sh -- fails when a file includes one from a higher layer, or a foreign library where it has no business.
# Layers from the bottom; a file's layer is that of the first pattern that its name matches.
cd "$(dirname "$0")/.." || exit 1
awk '
function rank(file,   i) {
    sub(/\.[ch]$/, "", file)
    for (i = 1; i <= layers; i++)
        if (file ~ ("^(" layer[i] ")$"))
            return i
    return 0
}
BEGIN {
    layer[1] = "lib/(base|error|arena|bytes|bits|text|text_map|counts|cli.*|param|parallel|outfile|libraries|host|csv|checksum|confine)"
    layer[2] = "lib/(rng|coin|kernels|vec/.*|tensor.*|linalg.*|fourier.*|spectral|select|radix|synth|groups|describe|json|quantise|hadamard|waterfill.*|subset|solve|pareto|cosine|phase|rotor|rotation|short_cosine|lloyd|ladder|thin|kmeans|knots.*|clusters|team|noise|log_series|wavelet)"
    layer[3] = "lib/(elias|code_table|huffman|rans.*|planes|signs|golomb|indices|levels.*|cluster_index|symbols.*|frame.*)"
    layer[4] = "lib/(spec|atoms.*|basis|candidates|compressor.*|offers|rate|spectrum|signed_set|sparse|sketch|compress/.*)"
    layer[5] = "lib/(stats|timing|netcost|cost|metrics.*|compare.*|verify.*|archive)"
    layer[6] = "lib/(nn|data)/.*"
    layer[7] = "lib/(report.*|codec_doc|plot.*|progress|doctor.*|program|inspect)"
    layer[8] = "cmd/.*"
    layers = 8
    only["hdf5.h"] = "lib/tensor_hdf5.*"
    only["cblas.h"] = only["lapacke.h"] = "lib/linalg.*"
    only["fftw3.h"] = "lib/fourier.*"
    only["dnnl.h"] = "lib/nn/dnnl.*"
    only["matio.h"] = "lib/data/svhn"
    only["zlib.h"] = "lib/data/files"
    for (i = 1; i < ARGC; i++)
        known[ARGV[i]]
    only["zstd.h"] = only["zstd_errors.h"] = "lib/compress/zstd"
    only["blosc.h"] = "lib/compress/blosc"
}
FNR == 1 {
    mine = rank(FILENAME)
    if (!mine) {
        print FILENAME ": in no layer; add it to test/depcheck.sh"
        bad = 1
    }
}
/^#include "/ {
    split($0, part, "\"")
    path = FILENAME
    sub(/[^\/]*$/, "", path)
    path = path part[2]
    while (sub(/[^\/.]+\/\.\.\//, "", path)) {}
    theirs = rank(path in known ? path : "lib/" part[2])
    if (theirs > mine) {
        print FILENAME ":" FNR ": includes " path ", which stands above it"
        bad = 1
    }
}
/^#include </ {
    header = $2
    gsub(/[<>]/, "", header)
    allowed = FILENAME
    sub(/\.[ch]$/, "", allowed)
    if (header in only && allowed !~ ("^(" only[header] ")$")) {
        print FILENAME ":" FNR ": " header " belongs in " only[header] " alone"
        bad = 1
    }
}
END { exit bad }
' $(git ls-files -co --exclude-standard 'lib/*.[ch]' 'cmd/*.[ch]' 2>/dev/null || find lib cmd -name '*.[ch]')
