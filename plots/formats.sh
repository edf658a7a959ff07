#!/bin/sh
# formats.sh -- number formats at their own sizes on several gradients: sh plots/formats.sh OUT.csv { NAME STEP FILE }...
#
# Writes a row for each codec. Size, speed and the verdict on bias are those on the first gradient, in 16 repeats, two on the
# others; each gradient has the errors of one worker and of the mean of 16.
set -eu
export LC_ALL=C
codecs='-c fp8 -c mxfp8 -c mxfp6 -c mxfp4 -c mxfp4:rounding=stochastic -c nvfp4 -c nvfp4:best=fourover6 -c nvfp4:rounding=eden'
codecs="$codecs -c nvfp4:rounding=stochastic -c eden:bits=4 -c rotated:bits=4 -c qsgd:bits=4,code=fixed -c qsgd:bits=4,code=rans"
codecs="$codecs -c minmax -c minmax:rounding=stochastic -c minmax:bits=8 -c bf16 -c bf16:code=rans"
out=$1 repeats=16 more=bits_per_element,bias,encode_gbps,decode_gbps, keys=compressor,repeats,
shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
: >"$tmp/all"
while [ $# -gt 0 ]; do
    atomo-bench compare "$3" -s "$2" $codecs --threads 1 --repeats $repeats --metrics ${more}relative_error,mean_error_16 -q -o "$tmp/one.json"
    atomo-bench report "$tmp/one.json" --columns "$keys${more}relative_error,mean_error_16" -f csv |
        sed "1s/relative_error/$1 &/; 1s/mean_error_16/$1 &/" >"$tmp/one"
    if [ -s "$tmp/all" ]; then paste -d , "$tmp/all" "$tmp/one" >"$tmp/both"; else cp "$tmp/one" "$tmp/both"; fi
    mv "$tmp/both" "$tmp/all"
    repeats=2 more= keys=
    shift 3
done
mv "$tmp/all" "$out"
