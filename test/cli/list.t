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

# list NAME prints the formula and the keys
$ atomo-bench list qsgd
> qsgd
> *; unbiased
> bits *whole *yes *
2>
= 0

# the page has every codec once, in the order of the list, each with a plain paragraph, a line "Use it when", an example, formula and reference, and ends in the names of the literature; the examples run, and their results name the codec
$ atomo-bench list --details -f md >page; atomo-bench list -f csv | sed 's/,.*//; 1d' >names; sed -n 's/^## //p' page | cmp - names && for part in '^4:[A-Z][a-z].*[a-z]' '^([6-9]|[1-9][0-9]):Use it when .' ':Definition:$' ':Reference: .'; do awk -v part="$part" '/^## / {if (name && !has) print name; name = $2; has = n = 0} n++ ":" $0 ~ part {has = 1} END {if (!has) print name}' page; done; grep -c . names; sed '1,/Names in the literature/d' page; sh "$SRC"/test/cli/examples.sh page; cut -d'|' -f1 examples | cmp - names && echo All run
> [1-9][0-9]
> | signSGD | sign | *
> | EF-signSGD | ef+scaledsign | *
> | AdaComp | ef+stc | AdaComp selects within bins*
> All run
2>
- [a-z]*
= 0

# list --details is refused for csv and json; its table is read in output.t
$ atomo-bench list --details -f csv
2> atomo-bench: list: --details: want --format table or md
= 2

# list SPEC describes every codec of a spec, the wrappers first
$ atomo-bench list ef+qsgd:bits=2 >both; { atomo-bench list ef; echo; atomo-bench list qsgd; } | cmp - both; atomo-bench list topk:ratio=0.5 >a; atomo-bench list topk | cmp - a; atomo-bench list qsgd:bits=2 -f csv -q -o q.csv; atomo-bench list qsgd -f csv | cmp - q.csv && cat both
> ef
> qsgd
2>
= 0

# the fields of json have the description too
$ atomo-bench list svd -f json | tr -d '\n'
> *"plain": "Takes each tensor as a matrix*"use_when": "the gradients *"example": "atomo-bench synth *
2>
= 0
