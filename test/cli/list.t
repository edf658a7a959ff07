# flags are the promises of what can stand alone; a wrapper that cannot says what it is, and no more
$ atomo-bench list
> codec *flags *rate key *what it is
> entry *unbiased *ratio *
> joint *unbiased, wrapper *bits *
> ef *stateful, wrapper *- *
2>
= 0

# as fields, what a wrapper leaves to the codec behind it is unknown
$ atomo-bench list -f csv
> randk,"unbiased, linear, mergeable",ratio,*,true,true,false,false
> joint,"unbiased, wrapper",bits,*,true,false,false,true
> ef,"stateful, wrapper",,*,,,true,true
2>
= 0

# with a name: formula, keys, what repeats can see
$ atomo-bench list joint
> joint
> *; unbiased, wrapper
> bits *real *yes *
> What repeats can see: *
2>
= 0

# the page has every codec once, in the order of the list, each with its formula and reference
$ atomo-bench list --details -f md >page; atomo-bench list -f csv | sed 's/,.*//; 1d' >names; sed -n 's/^## //p' page | cmp - names && for part in '^Reference: .' '^    .'; do awk -v part="$part" '/^## / {if (name && !has) print name; name = $2; has = 0} $0 ~ part {has = 1} END {if (!has) print name}' page; done; grep -c . names
> [1-9][0-9]
2>
- [a-z]*
= 0

# for people there is a page in plain text, for programs there is not
$ atomo-bench list --details | grep -c '^Reference: '; atomo-bench list --details -f csv
> [1-9][0-9]
2> atomo-bench: list: --details is for people: want --format table or md
= 2
