# the tables of README.md and docs/*.md that take seconds are what their commands print now; the others name command and revision
# (make tables-check also does docs/atomo.md, docs/sketches.md and docs/today.md, whose tables have codecs of equal size or a language model)
? command -v python3 && command -v git && atomo-bench list zfp && ! nm -D "$PUBLIC/libatomo.so.0" | grep -q asan
$ cd "$SRC"; python3 test/tables.py check "$(dirname "$(command -v atomo-bench)")" README.md $(ls docs/*.md | grep -v -e docs/atomo.md -e docs/sketches.md -e docs/today.md) docs/generated/rates.md
> tables: [2-9] of seconds, *; 0 failed
= 0

# a number that differs by more than its error, or in its last digit but one, a lost row, a table without a mark, and another command are seen; a time, a smaller difference and a larger error are not
? command -v python3
$ printf '%s\n' 'a' '' '<!-- table: cat now -->' '| codec | mean | encode ms | exact | n |' '| --- | --- | --- | --- | --- |' '| x:k=12 | 1.00 ± 0.02 | 3.1 | 2.345 | 12 |' >page.md; cp page.md "$PWD/now.md"; try() { sed "$1" now.md >"now.$2"; names="$names $2"; sed "s|cat now|cat '$PWD/now.$2'|" page.md >"$2.md"; }; try '' same; try s/1.00/1.09/ near; try s/1.00/1.20/ far; try s/3.1/9.9/ time; try s/2.345/2.346/ digit; try s/2.345/2.347/ digits; try 's/| 12/| 13/' count; try s/k=12/k=13/ spec; try '$d' row; try s/x:/y:/ word; sed -i '/^<!--/d; s/12 |$/12 |\n| y | 1 | 2 | 3 | 4 |/' page.md; try '' bare; python3 "$SRC"/test/tables.py check /usr/bin $(for n in $names; do echo "$PWD/$n.md"; done) >log; for n in $names; do echo "$n: $(grep -c "FAILED: $PWD/$n.md" log)"; done; true
> same: 0
> near: 0
> far: 1
> time: 0
> digit: 0
> digits: 1
> count: 1
> spec: 1
> row: 1
> word: 1
> bare: 1
= 0

# a long table must have been made by its command as it is now, at a revision of this history
? command -v python3 && command -v git && git -C "$SRC" rev-parse HEAD
$ p() { printf '%s\n' '<!-- long table: x -->' "<!-- made: $1, $2 -->" '| a | b |' '|---|---|' '| 1 | 2 |' >page.md; python3 "$SRC"/test/tables.py check /usr/bin "$PWD/page.md" | sed -n 's/^FAILED: .*page.md:[0-9]*: //p'; }; p $(git -C "$SRC" rev-parse --short HEAD) 2363233923; echo; p $(git -C "$SRC" rev-parse --short HEAD) 7; p 0123456789ab 2363233923
> its command, or the list behind it, is not the one that made it (sum 2363233923)
> revision 0123456789ab is not in the history
- *FAILED*
= 0
