# flags are the traits of codecs that can be used alone; a wrapper that needs an inner codec has the flag wrapper only
$ atomo-bench list
> codec *flags *rate *description
> entry *unbiased *ratio *
> joint *unbiased, wrapper *bits *
> ef *stateful, wrapper *- *
2>
= 0

# in fields, traits that depend on the inner codec are unknown
$ atomo-bench list -f csv
> randk,"unbiased, linear, mergeable",ratio,*,true,true,false,false
> joint,"unbiased, wrapper",bits,*,true,false,false,true
> ef,"stateful, wrapper",,*,,,true,true
2>
= 0

# list NAME prints the formula, the keys, and the bias that repeats can detect
$ atomo-bench list joint
> joint
> *; unbiased, wrapper
> bits *real *yes *
> Least bias that shows: *
2>
= 0

# the page has every codec once, in the order of the list, each with formula and reference, and ends in the names of the literature
$ atomo-bench list --details -f md >page; atomo-bench list -f csv | sed 's/,.*//; 1d' >names; sed -n 's/^## //p' page | cmp - names && for part in '^Reference: .' '^    .'; do awk -v part="$part" '/^## / {if (name && !has) print name; name = $2; has = 0} $0 ~ part {has = 1} END {if (!has) print name}' page; done; grep -c . names; sed '1,/Names in the literature/d' page
> [1-9][0-9]
> | signSGD | sign | *
> | EF-signSGD | ef+scaledsign | *
> | AdaComp | ef+stc | AdaComp selects within bins*
2>
- [a-z]*
= 0

# list --details is refused for csv and json; its table is read in output.t
$ atomo-bench list --details -f csv
2> atomo-bench: list: --details: want --format table or md
= 2

# list SPEC describes every codec of a spec, the wrappers first
$ atomo-bench list ef+qsgd:bits=2 >both; { atomo-bench list ef; echo; atomo-bench list qsgd; } | cmp - both; atomo-bench list joint:bits=2 >a; atomo-bench list joint | cmp - a; atomo-bench list qsgd:bits=2 -f csv -o q.csv; atomo-bench list qsgd -f csv | cmp - q.csv && cat both
> ef
> qsgd
2>
= 0

$ atomo-bench list ef+qsgd -f csv
2> atomo-bench: list: ef+qsgd: several codecs: want --format table or md
2> hint: atomo-bench list ef -f csv
= 2

$ atomo-bench list ef+qsgt; atomo-bench list qsgd:bots=2
2> atomo-bench: list: codec ef+qsgt: no codec is called "qsgt" (did you mean qsgd?)
2> atomo-bench: list: codec qsgd:bots=2: qsgd has no key "bots" (did you mean bits?)
= 2

# list describes one codec: of alternatives the hint names the first
$ atomo-bench list qsgd/terngrad; atomo-bench list ef+topk:ratio=0.1/0.2
2> atomo-bench: list: codec qsgd/terngrad: qsgd/terngrad are alternatives, and one codec is wanted here
2> hint: write qsgd
2> hint: write ef+topk:ratio=0.1
= 2

# each codec has a plain paragraph, a line "Use it when" and an example; the examples run, one after the other in one directory and here with two repeats, two metrics and a small tensor; their results name the codec
$ for c in $(atomo-bench list -f csv | sed 's/,.*//; 1d'); do atomo-bench list $c >page; grep -c '^Use it when .' page >>uses; sed -n '4,/^$/p' page | grep -c '^[A-Z][a-z].*[a-z]' >>plain; sed -n '/^Example:$/,/^Least/p' page | grep -c "^    atomo-bench .*[ +:]$c" >>examples; sed -n '/^Example:$/,/^[^ E]/s/^    \(atomo-bench .*\)/\1/p' page >run; [ $(wc -l <run) = 2 ] || echo "$c: not two commands"; sed -i 's/^atomo-bench compare .*/& --repeats 2 --metrics bytes,mse/; s/^atomo-bench merge .*/& --repeats 2 --metrics bytes,mse/; /--shape/!s/^atomo-bench synth .*/& --shape 96x64/' run; sh -e run >out 2>err || { echo "$c failed"; cat err; }; sed 1d out | grep -q "[+ =]*$c" || echo "$c: no result"; done; for f in uses plain examples; do grep -cv '^0$' $f; done | uniq >counts; atomo-bench list -f csv | sed 1d | wc -l | cmp - counts && echo all
> all
- *: not two commands
- * failed
- *: no result
2>
= 0

# the fields of json have the description too
$ atomo-bench list svd -f json | tr -d '\n'
> *"plain": "Takes each tensor as a matrix*"use_when": "the gradients *"example": "atomo-bench synth *
2>
= 0
