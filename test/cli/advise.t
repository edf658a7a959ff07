# the answer has ten lines: the verdict, a heading, the first three, those of bf16, and why three others are not chosen
$ atomo-bench synth -o g.h5 --shape 200x100 --shape 100 -q; atomo-bench advise g.h5 --link wan100m --workers 4 -q | wc -l
> 10
= 0

# where bytes are all that counts, a compressor wins, and says by how much
$ atomo-bench synth -o g.h5 --shape 200x100 --shape 100 -q; atomo-bench advise g.h5 -c qsgd:bits=2 --max-error 9 --link alpha=0s,beta=10kB --workers 2 -q
> qsgd:bits=2: * times as fast as bf16, * times as fast as bf16:code=rans
> rank  compressor (R = 3, seed 1) * total ms * over 16 bit * sent * mean error * feedback *travels *why not first
> *1  qsgd:bits=2 * no *to each worker *-
> *2  bf16:code=rans * times as long: sending takes * ms
> *3  bf16 * times as long: sending takes * ms
> *4  none * times as long: sending takes * ms
= 0

# one repeat gives no interval: a form of bf16 is the answer; floats have no error, for certain
$ atomo-bench synth -o g.h5 --shape 200x100 -q; atomo-bench advise g.h5 -c qsgd:bits=2 --max-error 9 --link alpha=0s,beta=10kB --workers 2 --repeats 1 -q | head -n 1; atomo-bench advise g.h5 -c qsgd:bits=2 -q -f csv | grep ',none,' | cut -d, -f 6,23
> send bf16*: no codec within the limits is faster for certain*
> 0,0
= 0

# on a link that costs nothing, the answer is to send bf16 or floats
$ atomo-bench synth -o g.h5 --shape 200x100 -q; atomo-bench advise g.h5 -c svd -c qsgd --link alpha=0s,beta=1000GB --workers 8 -q | head -n 1
> send *: no codec within the limits is faster for certain*
= 0

# limits: what breaks them has no rank, and the reason names the limit
? command -v python3
$ atomo-bench synth -o g.h5 --shape 200x100 -q; for o in --unbiased --allreduce '--max-error 0.01'; do atomo-bench advise g.h5 -c qsgd:bits=4 -c topk:ratio=0.1 -c intsgd:bits=8 $o -q -f json | python3 -c 'import json, sys; print({r["compressor"]: r["why"] for r in json.load(sys.stdin)["results"] if r["rank"] is None and r["compressor"] not in ("none", "bf16")})'; done
> {*'topk:ratio=0.1': 'biased'*}
> {*'qsgd*': 'its payloads do not add'*}
> {*'topk:ratio=0.1': 'error of the mean 0.5*, above 0.01'*}
= 0

# the error of the mean of P workers: variance goes down with P, and bias stays; the exchange takes as long as cost says
? command -v python3
$ atomo-bench synth -o g.h5 --shape 200x100 -q; for p in 1 4 16; do atomo-bench advise g.h5 -c qsgd:bits=2 -c topk:ratio=0.1 -c randk:ratio=0.5 --topology allgather --workers $p --max-error 9 -q -f json -o a.json --force; atomo-bench cost g.h5 -c qsgd:bits=2 -c topk:ratio=0.1 -c randk:ratio=0.5 --topology allgather --workers $p --repeats 3 -q -f json -o c.json --force; python3 -c 'import json; a, c = ({r["compressor"]: r for r in json.load(open(f))["results"]} for f in ("a.json", "c.json")); print(*(round(a[k]["mean_error"], 2) for k in ("qsgd:bits=2", "topk:ratio=0.1", "randk:ratio=0.5")), all(abs(a[k]["comm_ms"] - c[k]["comm_ms"]) <= 0.01 * c[k]["comm_ms"] for k in a if k in c))'; done
> [45].[0-9]* 0.5[0-9] 1.0 True
> 1.[0-9]* 0.5[0-9] 1.0 True
> 0.[23][0-9] 0.5[0-9] 1.0 True
= 0

# a biased codec alone needs error feedback, and under ef it has it
$ atomo-bench synth -o g.h5 --shape 200x100 -q; atomo-bench advise g.h5 -c topk:ratio=0.1 -c ef+topk:ratio=0.1 -c qsgd --max-error 1 -q -f csv | cut -d, -f 2,7 | sort
> compressor,feedback
> bf16,no
> bf16:code=rans,no
> ef+topk:ratio=0.1,in the spec
> none,no
> qsgd:bits=4,no
> topk:ratio=0.1,needed
= 0

# --all tries every codec, and biased ones under error feedback
$ atomo-bench synth -o g.h5 --shape 20x10 -q; atomo-bench advise g.h5 --all -q -f csv | cut -d, -f 2 | sed 's/:.*//' | sort -u | tr '\n' ' '; echo
> bf16 *eden ef+adaq *ef+scaledsign *ef+sign *ef+topk *svd *zipml *
= 0

# payloads that do not add go by two shots where that is faster and the mean's error is within the limit
? command -v python3
$ atomo-bench synth -o g.h5 --shape 200x100 -q; for e in 0.5 0.008; do atomo-bench advise g.h5 -c minmax:bits=4 --link alpha=0s,beta=1kB --workers 64 --max-error $e -q -f json -o a.json --force 2>/dev/null; python3 -c 'import json; r = [r for r in json.load(open("a.json"))["results"] if r["compressor"] == "minmax:bits=4"][0]; print(r["topology"], r["travels"], r["mean_error"] > 0.015, round(r["comm_ms"] / r["bytes_up"], 3))'; done
> twoshot by twoshot True 1.969
> allgather to each worker * 63.0
= 0
