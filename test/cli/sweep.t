# a codec is run at each usual rate, a codec without a rate once; unbiased and biased codecs have separate fronts
$ atomo-bench synth -o g.h5 --shape 640x320 -q; atomo-bench sweep g.h5 --repeats 6 -c qsgd -c terngrad -c bf16 --metrics bits_per_element
> compressor *bits/el *front *unbiased
> qsgd:bits=1 *yes *yes
> qsgd:bits=8 *yes *yes
> terngrad *no *yes
> bf16 *16.00 *yes *no
- qsgd:bits=5 *
2>
= 0

# without -c: the codecs of the paper
$ atomo-bench sweep $G --repeats 1 -f csv --metrics bytes | cut -d, -f 7 | sort -u | sed 's/:.*//' | uniq -c | tr '\n' ' '
> *1 compressor *6 entry *1 none *6 qsgd *8 svd *1 terngrad *
= 0

# the fields: those of compare, then those of sweep
$ atomo-bench sweep $G --repeats 1 -c svd:rank=2 -c lq -f csv --metrics bytes | cut -d, -f 3,7,10- 
> tensor,compressor,error,rate,pareto,pareto_certain,unbiased,seed,spec
> [*],svd:rank=2,,2,true,*,true,1,"svd:rank=2,*
> [*],lq,,,true,*,true,1,lq:q=2
= 0

# JSON has the schema of sweep, with numbers and booleans
? command -v python3
$ atomo-bench sweep $G --repeats 1 -c qsgd -c none -f json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["schema"], [[(r["rate"], r["pareto"], r["unbiased"]) for r in d["results"]][i] for i in (0, 5, 6)])'
> atomo-sweep/1 [[](1, True, True), (8, True, True), (None, True, True)]
= 0

# --rates, and specs that set their own rate
$ atomo-bench sweep $G --repeats 1 --rates 2,5 -c qsgd -c svd -c entry:ratio=0.5 -c qsgd:bits=3 -f csv --metrics bytes | cut -d, -f 3,7,11 | grep '^\*' | tr '\n' ' '
> [*],qsgd:bits=2,2 [*],qsgd:bits=5,5 [*],svd:rank=2,2 [*],svd:rank=5,5 [*],entry:ratio=0.5,0.5 [*],qsgd:bits=3,3 
= 0

# rates outside a codec's range are left out; if no rate is left, it is an error
$ atomo-bench sweep $G --repeats 1 --rates 0.5,2 -c qsgd -c entry --metrics bytes
> qsgd:bits=2 *
> entry:ratio=0.5 *
2> note: qsgd: 1 of --rates are left out: want 1 to 16
2> note: entry: 1 of --rates are left out: want above 0, to 1
= 0

# the metrics equal those of compare
$ atomo-bench synth -o g.h5 --shape 64x32 --shape 10 --steps 2 -q; m=bytes,bytes_min,mse,variance,bias_z,gain,relative_error,wasserstein,cosine,max_abs_error,density,entropy_bits,peak_scratch_bytes; atomo-bench sweep g.h5 --repeats 3 -c qsgd -c ef+entry -c terngrad -f csv --metrics $m -q >s.csv; atomo-bench compare g.h5 --repeats 3 -c qsgd:bits=1/2/3/4/6/8 -c ef+entry:ratio=0.001/0.003/0.01/0.03/0.1/0.3 -c terngrad -f csv --metrics $m -q >c.csv; cut -d, -f 1-22 s.csv >s; cut -d, -f 1-22 c.csv | diff - s && wc -l <c.csv
> 92
= 0

# every tensor has Pareto fronts of its own
$ atomo-bench synth -o g.h5 --shape 64x32 --shape 640 -q; atomo-bench sweep g.h5 --repeats 1 -c qsgd:bits=2 -c none --per-tensor --metrics bytes
> layer0.weight *qsgd:bits=2 *yes *yes
> layer1.weight *none *yes *yes
> [*] *none *yes *yes
= 0

# the figure of a sweep shows its Pareto fronts and the bounds on Gaussian data where they are asked for
? command -v gnuplot
$ atomo-bench sweep $G --repeats 2 -c qsgd -c topk -c entry -o s.json -q; for o in '' '--front --gaussian'; do atomo-bench plot pareto s.json $o -q -o f.svg; grep -o '<desc>R.*' f.svg | grep -o 'fronts of unbiased (solid) and of biased codecs\|least error on Gaussian data'; done
> fronts of unbiased (solid) and of biased codecs
> least error on Gaussian data
= 0
