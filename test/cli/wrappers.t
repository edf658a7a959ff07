# zstd or blosc without an inner codec is refused, and the hint names a valid spec
$ atomo-bench compare $SRC/datasets/lenet-mnist.h5 -c zstd
2> atomo-bench: codec zstd: zstd needs a codec to wrap
2> hint: write zstd+none, or another codec after the +
= 2

# a key whose value is a spec takes the rest of its stage; the spec is printed as it was typed, and complete
$ atomo-bench synth --shape 500 -o a.h5 --quiet; atomo-bench compare a.h5 -f csv --repeats 2 -c induced:with=qsgd:bucket=64,bits=2+topk:ratio=0.1
> *"induced:with=qsgd:bucket=64,bits=2+topk:ratio=0.1",*,"induced:with=qsgd:bits=2,bucket=64,norm=l2,code=elias*+topk:ratio=0.1,share=off"
= 0

# what remains after subtracting a learned shift is reported as residual, also inside zstd or blosc
$ atomo-bench synth --shape 500 --steps 2 -o a.h5 --quiet; atomo-bench compare a.h5 -f csv --repeats 2 --metrics residual_norm,error -c zstd+ef21+topk:ratio=0.5 -c topk
> 2,*,zstd+ef21+topk:ratio=0.5,2,0.[0-9]*,,1,"zstd:*
> 2,*,topk,2,,,1,"topk:ratio=0.01,share=off"
= 0

# decoders learn the same shift as the encoder
$ atomo-bench synth --shape 500 --steps 3 -o a.h5 --quiet; for c in ef21+none diana+bf16; do atomo-bench encode a.h5 -c $c -o a.atomo --quiet --force && atomo-bench decode a.atomo -o b.h5 --quiet --force && atomo-bench compare b.h5 -f csv --repeats 1 --metrics rel_l2 -c none; done
> 3,*
2>
= 0
