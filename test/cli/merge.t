# a row for each codec and number of workers; the merged payload's fields are empty if payloads do not merge
$ atomo-bench synth -o g.h5 --shape 64x32 --shape 10 --steps 3 -q; atomo-bench merge g.h5 -c none -c randk -c sign -c topk --workers 2,3,4 --metrics bytes,decode_ms,relative_error
> compressor *workers *made by seed *payload *decode ms *rel. error *merge ms *decode-each ms *merged payload
> none * 2 * 0 *8.232 kB*
> none * 4 * 1 *8.232 kB*
> randk * 3 * 0 *86 B*
> topk * 4 * 1 *111.5 B * - * - * -
2> note: g.h5: it has 3 gradients of a tensor; the other workers' are made: g + 1 rms(g) N(0, 1)
= 0

# the fields: those of compare and those of merge, with the number of workers after the compressor
$ atomo-bench merge $G -c qsgd -c sign --workers 2 --metrics bytes -f csv -q | cut -d, -f 1-11,15-16; atomo-bench merge $G -c sign --workers 2 --metrics bytes -f csv -q | head -n 1
> step,worker,tensor,kind,shape,n,compressor,workers,synthetic,repeats,bytes,error,merge_ms,decode_each_ms,bytes_up,bytes_merged,merge_ms_se,decode_each_ms_se,bytes_up_se,bytes_merged_se,average,topology,seed,spec
> 1,,layer0.weight,fc,64x32,2048,sign,2,1,1,257,257,514
> 1,,[*],,,2048,sign,2,1,1,257,257,514
> 1,,[*],,,2048,qsgd,2,1,1,*,
= 0

# a record over all steps is the mean of a step: sizes, and times
$ atomo-bench synth -o g.h5 --shape 64x32 --shape 10 --steps 3 --workers 2 -q; atomo-bench merge g.h5 -c sign --workers 2 -f csv -q >r.csv; awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } $3 == "*" { print $1, $c["bytes_up"], $c["bytes_merged"] }' r.csv; awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } $3 == "*" && $1 != "*" { m += $c["merge_ms"] / 3; d += $c["decode_each_ms"] / 3 } $1 == "*" { print "means", (m / $c["merge_ms"] - 1) ^ 2 < 1e-18, (d / $c["decode_each_ms"] - 1) ^ 2 < 1e-18 }' r.csv
> 1 260 520
> 3 260 520
> [*] 260 520
> means 1 1
= 0

# JSON has the schema of merge; missing values are null
? command -v python3
$ atomo-bench merge $G -c sign -c qsgd --workers 2,4 -f json -q | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["schema"], [(r["compressor"], r["workers"], r["synthetic"], r["merge_ms"] is None, r["decode_ms"] is None, r["bytes_merged"], r["worker"], r["bytes"] == r["bytes_up"]) for r in d["results"] if r["tensor"] == "*"])'
> atomo-merge/1 [[]('sign', 2, 1, False, False, 514, None, True), ('sign', 4, 3, False, False, 770, None, True), ('qsgd', 2, 1, True, True, None, None, True), ('qsgd', 4, 3, True, True, None, None, True)]
= 0

# by default chunktopk's mean is over the senders and topk's over all; refused where the codec sends every element
$ atomo-bench synth -o g.h5 --shape 64x32 --workers 4 -q; for a in auto all senders; do atomo-bench merge g.h5 -c topk:ratio=0.1 -c chunktopk:k=50 --workers 4 --average $a -f csv -q | awk -F, -v a=$a 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } $3 == "*" { print a, $c["compressor"], $c["average"], $c["gain"] < 0.6 ? "short" : "long" }'; done; atomo-bench merge g.h5 -c qsgd --average senders
> auto topk:ratio=0.1 all short
> auto chunktopk:k=50 senders long
> all topk:ratio=0.1 all short
> all chunktopk:k=50 all short
> senders topk:ratio=0.1 senders long
> senders chunktopk:k=50 senders long
2> atomo-bench: --average senders: qsgd does not send some elements and leave the others out, as topk does
= 2

# numbers of workers as a geometric sequence
$ for w in 4,8,...,64 1,3,...,27,2 5,5; do atomo-bench merge $G -c none --workers $w --metrics bytes -f csv -q | cut -d, -f 3,8 | grep '^\*' | cut -d, -f 2 | tr '\n' ' '; echo; done
> 4 8 16 32 64 
> 1 3 9 27 2 
> 5 
= 0

# metrics depend neither on the number of threads nor on the other codecs and numbers of workers
? command -v python3
$ atomo-bench synth -o g.h5 --shape 700x100 --shape 10 --steps 2 -q; for t in 1 2; do atomo-bench merge g.h5 -c qsgd -c svd -c ef+topk -c joint+entry -c terngrad:share=on -c randk --workers 2,5 --repeats 2 --threads $t -q -f json | grep '"tensor":' | sed 's/"\(encode\|decode\|merge\|bias\)[a-z_]*": [^,]*,//g' >$t; done; cmp 1 2 && atomo-bench merge g.h5 -c randk --workers 5 --repeats 2 --threads 2 -q -f json | grep '"tensor":' | sed 's/"\(encode\|decode\|merge\|bias\)[a-z_]*": [^,]*,//g; s/,$//' >3; grep -c . 3; grep -cFf 3 1
> 3
> 3
= 0

# groups of tensors, small tensors, selections and steps
$ atomo-bench synth -o g.h5 --shape 64x32 --shape 10 --shape 640 --steps 4 -q; atomo-bench merge g.h5 -c qsgd --workers 2 --group all --min-elements 50 --metrics bytes,raw_fallbacks -f csv -q | cut -d, -f 1-11; atomo-bench merge g.h5 -c qsgd --workers 2,4 -t layer2.weight --step 1 --metrics bytes -f csv -q | cut -d, -f 1-10
> ,,all,other,2688,2688,qsgd,2,0,1,*
> ,,layer1.weight,norm,10,10,qsgd,2,0,1,40
> ,,[*],,,2698,qsgd,2,0,1,*
> 1,,layer2.weight,norm,640,640,qsgd,2,1,1
> 1,,[*],,,640,qsgd,4,3,1
= 0

# gradients of worker groups are merged step by step
? test -r "$SRC"/../shared/data/lenet-mnist-workers8.h5 # lenet-mnist-workers8.h5, which is not part of the project, is not here
$ atomo-bench merge "$SRC"/../shared/data/lenet-mnist-workers8.h5 -t conv1.weight -c randk --workers 8,9 --metrics bytes -f csv -q | cut -d, -f 1-9
> 200,,conv1.weight,conv,20x1x5x5,500,randk,8,0
> 200,,[*],,,500,randk,9,1
= 0

# if a codec fails, only its records are lost
$ atomo-bench merge $G -c fp16 -c none --workers 2 --noise 1e6 --metrics bytes -q -f csv | grep -c ,none,2
> 2
= 0

# output formats and files; merge writes no FILE.part
$ for f in csv json md tex; do atomo-bench merge $G -c sign --workers 2 -q -o r.$f && grep -c sign r.$f; done; ls
> r.tex
- *.part
= 0

# its figure is drawn from CSV and from JSON
? command -v gnuplot
$ atomo-bench merge $G -c sign -c qsgd -c randk:ratio=0.1 --workers 4,8,...,64 -o m.json -q; atomo-bench merge $G -c sign -c qsgd --topology twoshot,allgather --workers 8,4 -q -o m.csv; atomo-bench plot merge m.json -q -o j.svg && grep -o '<text>sign\|<text>qsgd\|<text>randk:ratio=0.1\|merged, then decoded once' j.svg | sort -u; atomo-bench plot merge m.csv --data -q -o c.tex && cut -d, -f 1,2 c.plot.csv | tr '\n' ' '; echo; atomo-bench plot merge m.csv --y bytes -q -o f.svg && grep -c '<text>qsgd' f.svg
> *>*sign*
> *>*qsgd*
> *>*randk:ratio=0.1*
> merged, then decoded once
> line,x sign,4 sign,8 sign,4 sign,8 qsgd,4 qsgd,8 qsgd twoshot,4 qsgd twoshot,8 qsgd twoshot,4 qsgd twoshot,8 
> 2
= 0

# exchanges that quantise sums again: the errors of symmetric 4-bit rounding, computed by other programs, within 3 %, and their
# ratios for rounding to the nearest; what adds is merged as ever, in one row
$ atomo-bench synth -o g.h5 --shape 8192 --steps 16 -q; atomo-bench merge g.h5 -c qsgd:levels=7,norm=linf,bucket=128,code=fixed -c minmax:bucket=128 -c none --workers 4,8,16 --topology ring,twoshot,allgather --repeats 16 --metrics bytes,relative_error -f json -q | python3 -c 'import json, sys; e = {(r["compressor"].split(":")[0], r["topology"], r["workers"]): r["relative_error"] for r in json.load(sys.stdin)["results"] if r["tensor"] == "*"}; want = {"allgather": (.0276,) * 3, "twoshot": (.0552,) * 3, "ring": (.071, .130, .267)}; near = {"twoshot": (2, 2, 2), "ring": (2.6, 4.64, 9.2)}; print(all(abs(e["qsgd", t, p] / w - 1) < .03 for t in want for p, w in zip((4, 8, 16), want[t])), all(abs(e["minmax", t, p] / e["minmax", "allgather", p] / w - 1) < .05 for t in near for p, w in zip((4, 8, 16), near[t])), max(e["none", "any", p] for p in (4, 8, 16)) < 1e-12, ("none", "ring", 4) in e)'
> True True True False
= 0

$ atomo-bench merge $G -c qsgd --topology twoshots; atomo-bench merge $G -c diana+qsgd --topology twoshot --workers 4 -q -f csv | grep -o 'diana+qsgd decodes[^"]*'
> diana+qsgd decodes with the senders' states, so its sums are not quantised again
2> atomo-bench: --topology: "twoshots": want allgather, twoshot or ring (did you mean twoshot[?])
= 0

# a merge has no steps before it, whatever steps the dump has
$ atomo-bench synth -o g.h5 --shape 10 --steps 2 --workers 2 -q; atomo-bench merge g.h5 -c ef+topk --workers 2 --repeats 1 >/dev/null
2> note: ef+topk is measured in its first step,*: merge takes each gradient as that of a first step;*
= 0
