#!/bin/sh
# formats.sh -- number formats at their own sizes on several gradients: sh plots/formats.sh OUT.csv { NAME STEP FILE }...
#
# Writes a row for each codec: on each gradient its size and the relative errors of one worker and of the mean of 16; on the
# first one, with 16 repeats instead of eight, the verdict on bias and the speed too.
set -eu
export LC_ALL=C
codecs='-c fp8 -c mxfp8 -c mxfp6 -c mxfp4 -c mxfp4:rounding=stochastic -c nvfp4 -c nvfp4:best=fourover6 -c nvfp4:rounding=eden'
codecs="$codecs -c nvfp4:rounding=stochastic -c eden:bits=4 -c rotated:bits=4 -c qsgd:bits=4,code=fixed -c qsgd:bits=4,code=rans"
codecs="$codecs -c minmax -c minmax:rounding=stochastic -c minmax:bits=8 -c bf16 -c bf16:code=rans"
each=bits_per_element,relative_error,mean_error_16
out=$1 repeats=16 once=bias,encode_gbps,decode_gbps, keys=compressor,repeats,
shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
while [ $# -gt 0 ]; do
    atomo-bench compare "$3" -s "$2" $codecs --threads 1 --repeats $repeats --metrics $once$each -q -o "$tmp/one.json"
    atomo-bench report "$tmp/one.json" --columns $keys$once$each -f csv |
        sed "1{s/bits_per_element/$1 &/; s/relative_error/$1 &/; s/mean_error_16/$1 &/;}" >"$tmp/one"
    if [ -n "$keys" ]; then cp "$tmp/one" "$tmp/all"; else paste -d , "$tmp/all" "$tmp/one" >"$tmp/both" && mv "$tmp/both" "$tmp/all"; fi
    repeats=8 once= keys=
    shift 3
done
mv "$tmp/all" "$out"
