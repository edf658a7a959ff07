# candidates for a command, an option, a choice, a preset in a list
$ for w in co 'compare --form' 'compare -f j' 'cost --link lan1g,wan' 'plot histo' 'help adv' 'compare --metrics bytes,encode_g'; do atomo-bench --complete $w; done; atomo-train --complete run --network gpt-n; atomo-train --complete run --dataset=bab
> compare
> cost
> convert
> --format
> json
> lan1g,wan100m
> histogram
> advise
> bytes,encode_gbps
> gpt-nano
> --dataset=babble
= 0

# within a spec: names of codecs, for a stage and for an alternative
$ for w in svd ter ef+to qsgd/terng e svd:rank=2+ter qsgd:bu; do atomo-bench --complete compare g.h5 -c $w | tr '\n' ' '; echo; done
> svd 
> terngrad 
> ef+topk 
> qsgd/terngrad 
> entry eden ef+ ef21+ 
> svd:rank=2+terngrad 
- qsgd:bu*
= 0

# every codec has a section in atomo(7)
? command -v python3
$ sh $SRC/docs/packaging/man.sh 2000-01-01 . atomo-bench; atomo-bench list -f csv | python3 -c 'import csv, sys; names = [r["codec"] for r in csv.DictReader(sys.stdin)]; page = open("man7/atomo.7").read().splitlines(); print(len(names) > 40, [n for n in names if f".SS {n}" not in page])'
> True [[]]
= 0

# manual pages: one for each command, without a word from mandoc
? command -v mandoc
$ sh $SRC/docs/packaging/man.sh 2000-01-01 . atomo-bench atomo-train; ls man*/*.[17] | wc -l; mandoc -Tlint man*/*.[17]; mandoc -Tascii man1/atomo-bench-compare.1 | col -b | grep -A1 -e '--repeats N'
> 2[0-9]
> *--repeats N*
> *1000000, default 10)
= 0

# help describes a command, or else a codec
$ atomo-bench help qsgd >a; atomo-bench list qsgd >b; cmp a b; atomo-bench help ef+topk >a; atomo-bench list ef+topk >b; cmp a b; atomo-bench help compair
2> *no codec is called "compair"*
2> *
= 2

# no command: five lines that lead to a result
$ atomo-bench 2>a; echo $?; wc -l <a; atomo-train 2>a; echo $?
> 2
> 5
> 2
= 0

# the second dump is step 1001 of gpt-nano, and the demo, here of a copy of the program beside a small dump, compares the usual codecs on it
? command -v python3
$ atomo-bench inspect $SRC/datasets/gpt-nano-babble.h5 -f csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { n += $c["n"]; s[$c["step"]] = 1; b += $c["nonfinite"] } END { for (x in s) print NR - 1, n, x, b }'; mkdir -p a/b/bin datasets; cp "$(command -v atomo-bench)" a/b/bin; python3 $SRC/test/small.py a/b/bin $SRC/datasets/gpt-nano-babble.h5 datasets/gpt-nano-babble.h5; a/b/bin/atomo-bench demo gpt-nano -q; atomo-bench demo gpt
> 27 797824 1001 0
> $ atomo-bench compare */gpt-nano-babble.h5 -q
> none * 1.000 *
> qsgd:bits=1 *
> svd:rank=3 *
> next: *
2> atomo-bench: demo: no gradient of "gpt", want lenet or gpt-nano (did you mean gpt-nano?)
= 2

# in the shells themselves
? command -v python3 && command -v bash && script -qc true /dev/null # needs python3, bash, and a terminal of script's
$ python3 $SRC/test/shells.py bash $(dirname $(command -v atomo-bench)) $SRC/cmd/completion/atomo.bash 'atomo-bench compare g.h5 -c qsgd/terng'
> *qsgd/terngrad*
= 0
? command -v python3 && command -v zsh && script -qc true /dev/null # needs python3, zsh, and a terminal of script's
$ python3 $SRC/test/shells.py zsh $(dirname $(command -v atomo-bench)) $SRC/cmd/completion/_atomo 'atomo-bench compare g.h5 -c qsgd/terng'
> *qsgd/terngrad*
= 0
? command -v python3 && command -v fish && script -qc true /dev/null # needs python3, fish, and a terminal of script's
$ python3 $SRC/test/shells.py fish $(dirname $(command -v atomo-bench)) $SRC/cmd/completion/atomo.fish 'atomo-bench compare g.h5 -c qsgd/terng'
> *qsgd/terngrad*
= 0
