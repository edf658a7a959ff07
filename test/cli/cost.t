# a row for each number of workers and codec; none, fp16 and bf16:code=rans are always included, once
$ atomo-bench synth -o g.h5 --shape 64x32 --shape 10 --steps 2 -q; atomo-bench cost g.h5 -c intsgd -c topk -c none --workers 2,4 --compute-ms 3 -q
> compressor *workers *topology *link *compute ms *encode ms *comm ms *decode ms *total ms *break-even GB/s *pays *speed-up *alpha ms *beta GB/s *over 16 bit
> none * 2 *ring *lan10g * 3.000 * - *- * 1.000 * 0.05000 * 1.250 *
> fp16 * 4 *tree *lan10g *
> intsgd * 2 *ring *lan10g *
> topk * 4 *allgather *lan10g *
2>
= 0

# csv: the fields in order; the size of a payload, and of the merged payload of P workers
$ atomo-bench cost $G -c sign --workers 2,8,64 -q -f csv | cut -d, -f 1-4,13-17; atomo-bench merge $G -c sign --workers 64 -q -f csv --metrics bytes | tail -n 1 | cut -d, -f 1-8,15
> compressor,workers,topology,link,bytes_up,bytes_merged,rounds,alpha_ms,beta_gbps
> none,2,ring,lan10g,8192,*,1,0.05,1.25
> fp16,2,ring,lan10g,4097,4098,1,0.05,1.25
> sign,2,ring,lan10g,257,514,1,0.05,1.25
> sign,8,tree,lan10g,257,1026,1,0.05,1.25
> sign,64,tree,lan10g,257,1794,1,0.05,1.25
= 0

# the time of an exchange with known sizes: 8192 bytes of floats and 4097 bytes of fp16, over a link of 1 kB/s and 1 s
? command -v python3
$ atomo-bench cost $G -c fp16 -c scaledsign --workers 1,2,5 --topology ps,allgather,ring,tree,twoshot --link alpha=1s,beta=1kB -q -f json | python3 -c 'import json, sys; [print(r["compressor"], r["workers"], r["topology"], None if r["comm_ms"] is None else round(r["comm_ms"]), r["error"]) for r in json.load(sys.stdin)["results"]]'
> fp16 1 ps 14289 None
> fp16 1 allgather 0 None
> none 1 tree 0 None
> fp16 2 ps 26578 None
> fp16 5 ps 63445 None
> fp16 2 allgather 5097 None
> fp16 5 allgather 20388 None
> fp16 2 ring 6098 None
> fp16 5 tree 30588 None
> scaledsign 2 ring 2261 None
> scaledsign 5 tree None its payloads do not add
> scaledsign 5 twoshot 8418 None
= 0

# an all-gather is slower than a ring of floats if its payloads are larger than 2/P of the floats: fp16 from 4 workers on, one bit per element from 64 on
? command -v python3
$ atomo-bench synth -o g.h5 --shape 400x100 -q; atomo-bench cost g.h5 -c fp16:rounding=stochastic -c scaledsign --workers 3,5,63,65 --link alpha=0s,beta=1kB -q -f json | python3 -c 'import json, sys; all = json.load(sys.stdin)["results"]; none = {r["workers"]: r["comm_ms"] for r in all if r["compressor"] == "none"}; [print(r["compressor"], r["workers"], r["comm_ms"] < none[r["workers"]], r["pays"] in ("below", "always"), r["speedup"] > 1) for r in all if r["compressor"] != "none"]'
> fp16:rounding=stochastic 3 True True True
> fp16:rounding=stochastic 5 False False False
> fp16 65 True True True
> scaledsign 5 True True True
> scaledsign 63 True True True
> scaledsign 65 False False False
= 0

# at the break-even bandwidth the compressed and the uncompressed exchange take the same time
? command -v python3
$ atomo-bench synth -o g.h5 --shape 400x100 -q; atomo-bench cost g.h5 -c qsgd --workers 4 --compute-ms 5 -q -f json | python3 -c 'import json, sys; r = {r["compressor"]: r for r in json.load(sys.stdin)["results"]}; q, n = r["qsgd"], r["none"]; b = q["break_even_gbps"]; fix = lambda r, bytes: r["total_ms"] - r["comm_ms"] + (3 if r is q else 6) * 0.05 + bytes / b / 1e6; print(q["pays"], abs(fix(q, 3 * q["bytes_up"]) / fix(n, 1.5 * n["bytes_merged"]) - 1) < 1e-9)'
> below True
= 0

# each round takes its latencies; a parameter server answers each round but the last
$ atomo-bench cost $G -c powersgd:rank=1 -c terngrad:share=on --topology allgather --workers 2 --link wan100m -q -f csv --sort rounds:desc | awk -F, '{ printf "%s %s %d\n", $1, $15, $7 }'
> terngrad:share=on 2 40
> powersgd:rank=1 2 40
> fp16 1 20
= 0

# with overlap the total time is less than the sum of its parts, and at least the compute time
? command -v python3
$ atomo-bench synth -o g.h5 --shape 64x32 --shape 64x32 --shape 64x32 -q; for o in "" --overlap; do atomo-bench cost g.h5 -c qsgd --workers 4 --compute-ms 30 --link alpha=1us,beta=1MB -q $o -f json | python3 -c 'import json, sys; d = json.load(sys.stdin); r = [(r["compute_ms"] + r["encode_ms"] + r["decode_ms"], r["comm_ms"], r["total_ms"]) for r in d["results"]]; print(d["schema"], d["meta"]["overlap"], all(abs(p + c - t) < 1e-9 for p, c, t in r), all(p <= t < p + c - 1e-9 for p, c, t in r))'; done
> atomo-cost/1 False True False
> atomo-cost/1 True False True
= 0

# --compute-from takes the median step of a training run as compute time
$ atomo-bench synth -o g.h5 --shape 64 -q; printf 'record,compressor,compute_ms\nstep,none,7\nstep,none,1\nstep,qsgd,3\nsummary,none,900\n' >r.csv; atomo-bench cost g.h5 -c sign --workers 2 --compute-from r.csv -q -f csv | cut -d, -f 1,5; atomo-bench cost g.h5 -c sign --workers 2 --compute-from r.csv -q -f json | grep -o '"compute_from": "r.csv"'; echo '{"results": [{"record": "step", "compute_ms": 8}]}' >r.json; atomo-bench cost g.h5 --workers 2 --compute-from r.json -q -f csv -c sign | cut -d, -f 5
> none,3
> "compute_from": "r.csv"
> 8
= 0

# without --compute-ms and --compute-from there is a note
$ atomo-bench synth -o g.h5 --shape 64 -q; atomo-bench cost g.h5 -c sign --workers 2 | grep -c sign
> 1
2> note: no --compute-ms or --compute-from: times are those of the exchange
= 0

# several links, preset and custom, each with its latency alpha and bandwidth beta
$ atomo-bench synth -o g.h5 --shape 64 -q; atomo-bench cost g.h5 -c sign --workers 2 --link lan1g,wan100m --link alpha=2ms,beta=3MB -f csv -q | grep '^sign' | cut -d, -f 16,17
> 0.1,0.125
> 20,0.0125
> 2,0.003
= 0

# rows sorted by a field
$ atomo-bench cost $G -c sign --workers 4,2 --link alpha=1s,beta=1kB -f csv -q --sort comm_ms:desc | cut -d, -f 1,2 | tr '\n' ' '; echo; atomo-bench cost $G -c topk --workers 2 --link alpha=1s,beta=1kB -f csv -q --topology tree --sort total_ms | cut -d, -f 1 | tr '\n' ' '
> compressor,workers none,4 fp16,4 bf16:code=rans,4 none,2 sign,4 fp16,2 bf16:code=rans,2 sign,2 
> compressor fp16 none bf16:code=rans topk 
= 0

# measurements for 4,096 workers take no longer than for 16
$ atomo-bench cost $G -c sign -c svd --workers 4096 --topology tree,ps -q -f csv | cut -d, -f 1-3,13,14
> sign,4096,tree,257,*
> svd,4096,ps,*
= 0

# if a codec fails, only its records are lost
? command -v python3
$ python3 "$SRC"/test/cli/tensors.py g.h5 '{"a": [1.0] * 10, "b": [3e38] * 4000}'; atomo-bench cost g.h5 -c qsgd:bucket=0 -c topk --workers 2 --compute-ms 1 -f csv | cut -d, -f 1-2,5-9,12-13,18
> qsgd:bucket=0,2,,,,,,,,b: *beyond float32*
> topk,2,1,*
2> atomo-bench: g.h5: qsgd:bucket=0 on b: *
= 0

# other formats; a file is written completely or not at all
$ atomo-bench synth -o g.h5 --shape 64 -q; for f in csv json md tex; do atomo-bench cost g.h5 -c sign --workers 2 -q -o r.$f && grep -c sign r.$f; done; ls
> r.tex
- *.part
= 0

# options that are refused
$ atomo-bench cost g.h5 --workers 4097
2> atomo-bench: --workers *
= 2

$ atomo-bench cost g.h5 --link lan10
2> atomo-bench: link "lan10": no such preset
2> hint: --link lan*, or of your own: --link alpha=50us,beta=10Gbit, or FILE.json of atomo-bench link; there are lan1g*edge20m*
= 2

# atomo-train takes custom links, too
$ sh "$SRC"/test/cli/tiny.sh; atomo-train run --network lenet --dataset mnist --max-steps 1 --batch-size 2 --workers 2 --link alpha=1s,beta=1GB --topology allgather -c terngrad:share=on -q -f csv --eval-freq 0 | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "comm_ms") c = i } $1 == "step" { printf "%d\n", $c }'
> 2000
= 0

# its figures are drawn from CSV and from JSON; a codec that does not pay at the measured times has no break-even
? command -v gnuplot
$ atomo-bench cost $G -c qsgd -c scaledsign --workers 2,4 --compute-ms 1 -q -o c.csv; atomo-bench cost $G -c qsgd -c scaledsign --workers 2,4 --compute-ms 1 --topology ps,allgather -q -o c.json; for k in iteration-time runtime break-even; do atomo-bench plot $k c.csv -q -o $k.svg && grep -o '<text>qsgd' $k.svg; atomo-bench plot $k c.json -q -o j.tex && grep -c 'qsgd allgather' j.tex; atomo-bench plot $k c.csv -q -o f.pdf && head -c 5 f.pdf; echo; done | sort | uniq -c
> *[23] <text>qsgd
> *[23] 1
> *3 %PDF-
2>
= 0

# auto takes the faster of ring and tree where payloads add: small messages go by tree, large ones by ring; figures name no topology that auto chose
$ for t in auto ring tree; do atomo-bench cost $G -c sign -c topk --workers 8 --topology $t --link alpha=0s,beta=10kB --link alpha=1s,beta=10kB -q -f csv -o $t.csv; done; cut -d, -f 1,3 auto.csv; awk -F, 'FILENAME != f { f = FILENAME; t = f; sub(".csv", "", t) } $1 == "sign" { total[t, $4] = int($9) } END { for (i in total) { split(i, k, SUBSEP); if (k[1] == "auto") { r = total["ring", k[2]]; e = total["tree", k[2]]; print k[2], total[i] == (r < e ? r : e) } } }' auto.csv ring.csv tree.csv; atomo-bench plot break-even auto.csv -o f.tex; grep -c -e 'sign ring' -e 'sign tree' f.tex; grep -o 'sign alpha=.s' f.tex | sort -u
> compressor,topology
> none,ring
> fp16,ring
> sign,ring
> topk,allgather
> none,tree
> fp16,tree
> sign,tree
> topk,allgather
> alpha=0s beta=10kB 1
> alpha=1s beta=10kB 1
> 0
> sign alpha=0s
> sign alpha=1s
= 0

# a parameter server also returns the sum of each round but the last: for powersgd 64 floats and the number of workers, for terngrad a scale
? command -v python3
$ atomo-bench cost $G -c powersgd:rank=1 -c terngrad:share=on --topology ps --workers 2 --link alpha=0s,beta=1kB -q -f json | python3 -c 'import json, sys; [print(r["compressor"], round(r["comm_ms"] / 2 - r["bytes_up"] - 8192, 6)) for r in json.load(sys.stdin)["results"]]'
> none 0.0
> fp16 0.0
> powersgd:rank=1 258.0
> terngrad:share=on 5.0
= 0

# the time to decode P payloads includes averaging them, which takes as long as adding floats
? command -v python3
$ atomo-bench synth -o g.h5 --shape 640x320 -q; atomo-bench cost g.h5 -c bf16:rounding=stochastic --topology allgather --workers 64,1024 -q -f json | python3 -c 'import json, sys; d = {(r["compressor"], r["workers"]): r["decode_ms"] for r in json.load(sys.stdin)["results"]}; slope = lambda c: (d[c, 1024] - d[c, 64]) / 960; adding = 64 * slope("bf16:rounding=stochastic") - d["bf16:rounding=stochastic", 64]; print(slope("none") > 0, abs(adding / slope("none") - 1) < 1e-6)'
> True True
= 0

# on a ring, atomo-train also counts the bytes of the merged payload
$ sh "$SRC"/test/cli/tiny.sh; atomo-train run --network lenet --dataset mnist --max-steps 1 --batch-size 2 --workers 2 --link alpha=0s,beta=1kB --topology ring -c sign -q -f csv --eval-freq 0 | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } $1 == "step" { print ($(c["comm_ms"]) > $(c["bytes_up"])), ($(c["bytes_up"]) == $(c["bytes_down"])) }'
> 1 1
= 0

# nodes: 2 (K - 1)/K of the payload of the codec within nodes on their link, 2 (N - 1)/N of 1/K of the codec's payload between nodes
? command -v python3
$ atomo-bench cost $G -c scaledsign --workers 8,6 --topology twoshot,hier:node=4 --within fp16 --link-within alpha=1ms,beta=4097B --link alpha=1s,beta=261B -q -f json 2>/dev/null | python3 -c 'import json, sys; [print(r["compressor"], r["workers"], r["topology"], None if r["comm_ms"] is None else round(r["comm_ms"]), r["error"]) for r in json.load(sys.stdin)["results"] if r["compressor"] == "scaledsign"]'; atomo-bench cost $G -c qsgd --topology hier:node=4 --within topk --workers 8 -q
> scaledsign 8 twoshot 15750 None
> scaledsign 8 hier:node=4 3756 None
> scaledsign 6 hier:node=4 None the workers do not fill nodes
2> *--within topk: want none, fp16 or a codec of -c
= 2

# a codec of -c that cannot be exchanged so gives exit code 1, bf16:code=rans, which is always measured, does not; with hier the default is 2 to 16 nodes
$ atomo-bench cost $G -c sign --workers 2 --topology tree -q -f csv >t.csv; echo $?; atomo-bench cost $G -c topk --topology hier:node=4 -q -f csv | cut -d, -f 2 | sort -nu | tr '\n' ' '; atomo-bench cost $G -c topk --workers 2 --topology tree -q -f csv -o t.csv; r=$?; grep -c add t.csv; exit $r
> 0
> workers 8 16 32 64 2
2> note: no --compute-ms *
2> atomo-bench: *g.npz: topk by tree, 2 workers: its payloads do not add
= 1

# what hier alone has is refused without it
$ atomo-bench cost $G --within none; atomo-bench cost $G --topology ring --link-within lan1g; atomo-bench advise $G --topology hier:node=2; atomo-bench cost $G --topology hier:node=2,hier:node=4; atomo-bench cost $G --topology hier:node=1
2> atomo-bench: --within: want --topology hier:node=K as well
2> atomo-bench: --link-within: want --topology hier:node=K as well
2> atomo-bench: --topology hier:node=2: advise weighs no nodes
2> atomo-bench: --topology hier:node=4: want one hier:node=K
2> atomo-bench: --topology hier:node=1: want hier:node=K, 2 to 4096 workers in a node
= 2

# the payloads of topk with share add, so that from 16 workers on they travel faster than those of topk
$ atomo-bench synth -o g.h5 --shape 640x320 -q; atomo-bench cost g.h5 -c ef+topk -c ef+topk:share=leader -c ef+topk:share=sketch --workers 16,64 --link lan1g --repeats 1 -q -f csv | awk -F, '/topk/ { if ($1 == "ef+topk") own[$2] = $7; else print $1, $2, $3, ($7 < own[$2]) }'
> ef+topk:share=leader 16 tree 1
> ef+topk:share=sketch 16 tree 0
> ef+topk:share=leader 64 tree 1
> ef+topk:share=sketch 64 tree 1
= 0

# a misspelt topology is met with those that the command takes
$ atomo-bench synth -o g.h5 --shape 20x10 -q; atomo-bench cost g.h5 -c sign --topology alto; atomo-bench advise g.h5 -c sign --topology hire:node=2
2> *--topology: "alto": want one of auto, ps, allgather, ring, tree, twoshot, hier:node=K (did you mean auto[?])
2> *--topology: "hire:node=2": want one of auto, ps, allgather, ring, tree, twoshot
= 2
