# a row for each statement, and a row that sums up all; a line for each statement and tensor; the fields of csv, in which every statement has passed; of these three only --per-tensor writes a note
$ atomo-bench synth -o g.h5 --shape 12x10 --shape 7 -q; atomo-bench verify g.h5 2>err; atomo-bench verify g.h5 --per-tensor >p; sed 's/^/each: /' p; atomo-bench synth -o w.h5 --shape 6 --workers 2 -q; atomo-bench verify w.h5 -f csv -q >r.csv 2>>err; sed 's/^/loud: /' err; head -n 1 r.csv; cut -d, -f 3 r.csv | sort -u | paste -sd' '; grep -c ,true, r.csv | sed 's/.*[1-9].*/some/'; grep -o ',false,' r.csv | tr -d ,
> statement *checked  failed  n/a  closest call *left  is *right *within
> Lemma 1: mean of entries *  2       0    0  layer* = *
> Theorem 6 *  1       0    1  layer0.weight * = *
> all * 0 * - *
> each: Lemma 9 * layer0.weight *>= *yes *
> each: Lemma 9 * layer1.weight *>= *yes *
> each: statement *tensor *left  is *right *within  passed  case
> statement,step,worker,tensor,left,relation,right,tolerance,passed,note
> 0 1 worker
> some
- each: Lemma 7*layer1.weight*
- each: * no  *
- false
- loud*
2> note: g.h5: * of * checks passed; * times a statement does not apply to a tensor
= 0

# JSON is valid for a strict parser; passed follows from left, relation, right and tolerance
? command -v python3
$ atomo-bench synth -o g.h5 --shape 24x10 --shape 40 -q; atomo-bench verify g.h5 -o r.json -q; python3 -c 'import json; d = json.load(open("r.json"), parse_constant=int); ok = {"=": lambda l, r, t: abs(l - r) <= t, "<=": lambda l, r, t: l <= r + t, ">=": lambda l, r, t: l >= r - t, ">": lambda l, r, t: l > r + t}; print(d["schema"], d["meta"]["seed"], d["meta"]["tensors"], d["results"][0]["worker"], all(ok[x["relation"]](x["left"], x["right"], x["tolerance"]) == x["passed"] for x in d["results"]), len({x["statement"] for x in d["results"]}) > 15)'
> atomo-verify/1 1 2 None True True
= 0

# zeros, one element, equal magnitudes, a spike, denormals, the largest floats: a verdict or none, never a failure of the program
? command -v python3
$ python3 "$SRC"/test/cli/tensors.py g.h5 '{"z": [[0.0] * 5] * 4, "e": [], "one": [1.0], "c": [[0.25, -0.25] * 3] * 10, "spike": [1e30] + [1.0] * 99, "den": [[(10 * r + k) * 1e-44 for k in range(10)] for r in range(8)], "huge": [[3.4e38, -3.4e38] * 3] * 10, "scalar": 2.0}'; atomo-bench verify g.h5 -q
> all * 0 * - *
2>
= 0

# the results do not depend on the number of threads
$ atomo-bench synth -o g.h5 --shape 66000 --shape 12x10 -q; for t in 1 3; do atomo-bench verify g.h5 --threads $t -o $t.csv -q; done; cmp 1.csv 3.csv && echo same
> same
= 0

# the whole gradient as one vector is no matrix, so there are no statements on matrices
$ atomo-bench synth -o g.h5 --shape 12x10 --shape 7 -q; atomo-bench verify g.h5 --group all
> Algorithm 1: KKT *  1       0    0  all *
> Lemma 7: left *  0       0    1  - *
= 0

# statements and tensors can be selected
$ atomo-bench synth -o g.h5 --shape 12x10 --shape 7 --steps 2 -q; atomo-bench verify g.h5 -t '*1*' --step 2 -f csv -q | tail -n +2 | cut -d, -f 2,4 | sort -u
> 2,layer1.weight
- *layer0*
= 0

# NaN stops the run; with --skip-nonfinite the tensor is left out
? command -v python3
$ python3 "$SRC"/test/cli/tensors.py g.h5 '{"a": [1.0] * 10, "b": [1.0, nan]}'; atomo-bench verify g.h5 -o r.csv; echo $?; atomo-bench verify g.h5 --skip-nonfinite
> 1
> all *
2> atomo-bench: g.h5: b: 1 of 2 *
2> note: g.h5: 1 tensor with NaN or Inf is left out
= 0
