# stdout on a full disk is an error
$ atomo-bench list >/dev/full
2> atomo-bench: standard output: cannot write: No space left on device
= 1

# a closed stdout is an error
$ atomo-bench list >&-
2> atomo-bench: standard output: cannot write: *
= 1

# stdout to a pipe that no process reads: SIGPIPE ends the program, and nothing is said, as after `| head -1`
$ mkfifo pipe; : <pipe & exec 3>pipe; wait; atomo-bench synth -o s.h5 --shape 7 -q; atomo-bench compare s.h5 -c none --repeats 1 -q -o r.csv; for c in list 'compare --help' "inspect s.h5 -f csv" "compare s.h5 -c none --repeats 1 -q" "report r.csv -o -" "plot pareto r.csv -o -"; do atomo-bench $c >&3; code=$?; [ $code = 141 ] || echo "$c: code $code"; done; atomo-train --help >&3; echo $?; ls -A
> 141
> pipe
> r.csv
> s.h5
- *code*
2>
= 0

# a parent that ignores SIGPIPE changes nothing of this
$ mkfifo pipe; : <pipe & exec 3>pipe; wait; trap '' PIPE; atomo-bench list >&3; echo $?
> 141
2>
= 0

# on a narrow terminal, and in a pipe with COLUMNS set, a table is written in parts, each with the columns that tell its rows apart; a pipe without COLUMNS, and a file, get one table
? script -qc true /dev/null # needs a terminal of script's
$ F=f.h5; atomo-bench synth -o $F --shape 20x1x5x5 --shape 20 --shape 50x20x5x5 --shape 30x20 --steps 2 -q; COLUMNS=60 TERM=xterm script -qc "atomo-bench inspect $F --color never" /dev/null >narrow; tr -d '\r' <narrow >t; awk 'length > 60' t; grep -c '^step .*tensor ' t; unset COLUMNS; COLUMNS=60 atomo-bench inspect "$F" | cmp - t && echo same; COLUMNS=60 atomo-bench inspect "$F" -q -o n.txt; atomo-bench inspect "$F" | tee one | grep -c '^step  worker  tensor '; cmp one n.txt; COLUMNS=1000 TERM=xterm script -qc "atomo-bench inspect $F --color never" /dev/null | tr -d '\r' >wide; atomo-bench inspect "$F" | cmp - wide; awk '$1 == "step" {from = $2 == "worker" ? 4 : 3} NF && $1 != "step" {for (i = from; i <= NF; i++) print $i}' t | sort >cells; awk '$1 != "step" {for (i = 4; i <= NF; i++) print $i}' wide | sort | cmp - cells && echo all
> [2-9]
> same
> 1
> all
- *.weight*
2>
= 0

# the tables of all commands fit 40 columns, on a terminal and in a pipe; no part has only columns that the next one has too
? script -qc true /dev/null # needs a terminal of script's
$ D=g.npz; atomo-bench synth --shape 16x8 --shape 5 -q -o g.h5; atomo-bench convert g.h5 $D -q; atomo-bench synth --shape 5 -q -o v.h5; w=40; export COLUMNS=$w; for c in "verify v.h5 --per-tensor -q" "sweep $D -c qsgd -c svd --rates 1,2 --repeats 2 -q" "compare $D -c qsgd -c ef+powersgd:rank=2 -q --repeats 2 --per-tensor" "merge $D -c qsgd --workers 2 --repeats 1 -q" "cost $D -c qsgd --compute-ms 5 --repeats 1 -q" "advise $D -c qsgd --compute-ms 5 --repeats 1 -q" "inspect $D" "list" "list qsgd" doctor; do atomo-bench $c >t 2>/dev/null; awk -v w=$w -v c="$c" 'length > w && !/^ +atomo-/ { print "wide", c, w, $0 }' t; done; TERM=xterm script -qc "stty cols $w; unset COLUMNS; atomo-bench inspect $D --color never" /dev/null | tr -d '\r' >p; atomo-bench inspect $D | cmp - p && echo same $w
> same 40
- wide*
2>
= 0

# words of a long last column go to the next line, on a terminal and in a pipe
? script -qc true /dev/null # needs a terminal of script's
$ COLUMNS=40 TERM=xterm script -qc 'atomo-bench list --color never' /dev/null | tr -d '\r' >t; COLUMNS=40 atomo-bench list | cmp - t && echo same; awk 'length > 40' t | wc -l; tr -s ' \n' '  ' <t
> same
> *entry element-wise ATOMO: the least variance for a budget of s expected elements svd *
> 0
2>
= 0

# the bar says what is counted, and what was worked on last; it is never wider than the terminal; the phase of cost that merges payloads names its item
? script -qc true /dev/null && command -v cc # needs a terminal of script's, and cc
$ cc -shared -fPIC -D_GNU_SOURCE -o hurry.so "$SRC/test/cli/hurry.c"; h="LD_PRELOAD=$PWD/hurry.so ASAN_OPTIONS=verify_asan_link_order=0"; atomo-bench synth --shape 40x30 --shape 40x31 -o g.h5 -q >/dev/null; for c in 120 60 40; do TERM=xterm script -qc "stty cols $c; $h atomo-bench compare g.h5 -c svd:rank=1/2/3/4/5/6/7/8 --repeats 6 --threads 1 -o r$c.csv" /dev/null | tr '\r' '\n' >$c; awk -v c=$c '{sub(/\033.*/, "")} length >= c {print "too long", $0}' $c; done; cat 120; grep -c 'comparing .*left' 60; grep -c comparing 40; TERM=xterm script -qc "stty cols 120; $h atomo-bench cost g.h5 -c none -c qsgd --repeats 40 --threads 1 -o c.csv" /dev/null | tr '\r' '\n'
> comparing [[][#-]*[]]  [0-9]*/[0-9]* records  * left  * records/s  svd* on *
> [1-9]*
> [1-9]*
> merging [[][#-]*[]]  [0-9]*/[0-9]* records  * left  * records/s  * on *, * workers*
- too long*
= 0

# an output file of -o on a full disk is an error
$ atomo-bench list -o /dev/full
2> atomo-bench: /dev/full: cannot write: No space left on device
= 1

# a command that wrote results to a file says how many records, unless it is quiet or wrote to stdout
$ for c in "list -o l.json" "inspect $G -o i.csv" "compare $G -c none -c qsgd --repeats 1 -o c.json" "compare $G -c none -c qsgd --repeats 1 -o c.md"; do atomo-bench $c; done; echo $(grep -c '^ *{"codec"' l.json) $(sed 1d i.csv | wc -l) $(grep -c '^ *{"step"' c.json) $(sed 1,2d c.md | wc -l); for o in '-q -o i.csv' '-o -' '-o /dev/stdout'; do atomo-bench inspect $G $o -f csv 2>&1 | grep wrote; done
> [1-9]* 1 4 2
2> wrote l.json
2> wrote i.csv: 1 record
2> wrote c.json: 4 records
2> wrote c.md: 2 records
= 1

# an output file in a missing directory is an error
$ atomo-bench list -o nowhere/list.csv
2> atomo-bench: nowhere/list.csv: cannot write: No such file or directory
= 1

# the error is found before the work begins, which would take minutes, and the check leaves no file
$ atomo-bench synth -o g.h5 --shape 512x512 -q; for c in cost merge inspect verify sweep; do timeout 300 atomo-bench $c g.h5 -o nowhere/x.csv; echo $?; done; timeout 300 atomo-train tune -o nowhere/x.csv; ls -A
> 1
> g.h5
- 124
- note:*
2> atomo-bench: nowhere/x.csv: cannot write: No such file or directory
2> atomo-train: nowhere/x.csv: cannot write: No such file or directory
- x.csv
= 0

# the output file appears only under its own name, with the mode of the file that it replaces
$ : >list.csv; chmod 600 list.csv; atomo-bench list -o list.csv; ls -A; stat -c %a list.csv
> list.csv
> 600
- *.tmp
= 0

# an output file that is a symbolic link remains one
$ : >real; ln -s real list.csv; atomo-bench list -o list.csv; test -L list.csv && head -n 1 real
> codec,flags,*
= 0

# the file extension selects the format
$ atomo-bench list -o a.csv; atomo-bench list -o a.json; atomo-bench list -o a.md; atomo-bench list -o a.tex; head -qn 1 a.*
> codec,flags,*
> {"schema": "atomo-list/1",
> [|] codec [|]*
> \\begin{tabular}*
= 0

# --format takes precedence over the file extension
$ atomo-bench list -o a.csv --format json; head -n 1 a.csv
> {"schema": "atomo-list/1",
= 0

# -o /dev/stdout writes to stdout
$ atomo-bench list none -f csv -o /dev/stdout
> key,type,*
= 0

# an output file whose name has blanks, quotes and a leading dash
$ atomo-bench list -o "-a 'b' \"c\".csv" && ls
> -a 'b' "c".csv
= 0

# colours are not used in a pipe
$ atomo-bench list | od -c | head -n 1
- *033*
= 0

# NO_COLOR and --color never turn colours off on a terminal
? script -qc true /dev/null # needs a terminal of script's
$ TERM=xterm NO_COLOR=1 script -qc 'atomo-bench list' /dev/null | od -c | head -n 1; TERM=xterm script -qc 'atomo-bench list --color never' /dev/null | od -c | head -n 1
- *033*
= 0

# colours are used on a terminal
? script -qc true /dev/null # needs a terminal of script's
$ TERM=xterm script -qc 'atomo-bench list' /dev/null | od -c | head -n 1
> *033*
= 0

# a symbolic link to a file that does not exist yet remains a link
$ mkdir d; ln -s d/real.csv link; ln -s link again; ln -s a b; ln -s b a; atomo-bench list -f csv -o again; find . -type l | sort | xargs; find . -type f; atomo-bench list -o a; echo $?; find . -type l | wc -l
> ./a ./again ./b ./link
> ./d/real.csv
2> atomo-bench: a: cannot write: Too many levels of symbolic links
> 1
> 4
= 0

# a file extension that no format has is refused before any work, unless --format is given
$ atomo-bench list -o x.jsn; ls; atomo-bench list -o x.jsn -f json && head -n 1 x.jsn; atomo-bench list -o x.txt && head -n 1 x.txt; atomo-bench compare none.h5 -o a.b/x.CSV
> {*
> codec *flags *
2> atomo-bench: list: -o x.jsn: no format has this ending; want .csv, .json, .md, .tex or .txt
2> hint: --format NAME writes to a file of any name
2> atomo-bench: compare: -o a.b/x.CSV: no format*
= 2

# results, figures and pages replace a file; gradients and payloads keep one that is there unless --force is given
? gnuplot --version
$ sh $SRC/test/cli/tiny.sh; echo before >before; for f in r.csv f.svg p.html list.md x.h5 x.atomo x.npz; do cp before $f; done; mkdir d; atomo-bench compare $G -c none -c qsgd -q -o r.csv && cp r.csv d && atomo-bench plot pareto r.csv -q -o f.svg && atomo-bench report d -q -o p.html && atomo-bench list -o list.md; atomo-bench encode $G -c none -q -o g.atomo; set -- 'synth --shape 4 -o x.h5' 'encode $G -c none -o x.atomo' 'decode g.atomo -o x.h5' 'convert $G x.npz' 'convert $G x.h5'; for c; do atomo-bench $c -q; echo $?; done; atomo-train run --network softmax --dataset mnist --max-steps 1 --dump-freq 1 --dump-gradients x.h5 -q; echo $?; for f in *; do [ -d $f ] || cmp -s $f before && echo $f; done; for c; do atomo-bench $c -q --force >/dev/null || echo $c; done; atomo-train run --network softmax --dataset mnist --max-steps 1 --dump-freq 1 --dump-gradients x.h5 -q --force >/dev/null; for f in x.*; do cmp -s $f before && echo $f; done; cp before .before; rm before; atomo-bench inspect x.h5 -f csv | wc -l
> 2
> before
> x.atomo
> x.h5
> x.npz
> 3
- 0
- r.csv
- f.*
- p.html
- list.md
2> atomo-bench: synth: -o x.h5: is there already, want another file
2> atomo-bench: encode: -o x.atomo: is there already, *
2> atomo-bench: decode: -o x.h5: is there already, *
2> atomo-bench: convert: x.npz: is there already, *
2> atomo-bench: convert: x.h5: is there already, *
2> atomo-train: run: --dump-gradients x.h5: is there already, *
2> hint: --force replaces it
= 0

# an input is never written to: of an argument, of another option, of a folder, of the numbers of a figure; --force changes nothing
$ mkdir d; atomo-bench synth -o d/a.h5 --shape 8x4 -q; cp d/a.h5 was; atomo-bench compare d/a.h5 -c none -c qsgd -q -o r.csv; cp r.csv f.plot.csv; for c in 'compare d/a.h5 -f csv -o d/a.h5' 'compare d/a.h5 -f csv -o ./d/../d/a.h5' 'inspect d -f csv -o d/a.h5' 'convert d/a.h5 d/a.h5' 'cost d/a.h5 -c none --compute-from r.csv -o r.csv' 'plot pareto f.plot.csv --data -o f.svg'; do atomo-bench $c --force -q; echo $?; done; cmp d/a.h5 was && cmp r.csv f.plot.csv && ls
> 2
> f.plot.csv
- 0
- 1
- f.svg
2> atomo-bench: compare: -o d/a.h5: is what is read, want another file
2> atomo-bench: compare: -o ./d/../d/a.h5: is what is read, want another file
2> atomo-bench: inspect: -o d/a.h5: is what is read, want another file
2> atomo-bench: convert: d/a.h5 is the input; want another file
2> atomo-bench: cost: -o r.csv: is the file of --compute-from, want another file
2> atomo-bench: plot: -o f.svg: its numbers would replace f.plot.csv, want another file
= 0

# -o - is standard output: of results, pages, figures and payloads, but not of HDF5
$ mkdir d; atomo-bench compare $G -c none -q -f csv -o d/r.csv; atomo-bench compare $G -c none -q -o - | head -n 1; atomo-bench report d/r.csv -o - | head -n 1; atomo-bench report d -o - | grep -c '</html>'; atomo-bench encode $G -c none -o a.atomo -q >/dev/null; atomo-bench encode $G -c none -o - -q | cmp - a.atomo && echo same; (echo before; atomo-bench encode $G -c none -o -) >b 2>err; head -n 1 b; cat err; atomo-bench decode - -o h.h5 -q <a.atomo; cat a.atomo | atomo-bench decode - -o h.h5 -q --force; atomo-bench decode - -o - <a.atomo; echo $?; cat h.h5 | atomo-bench decode - -o i.h5; ls -A
> compressor *
> 1
> same
> before
> standard output: none, 1 tensor,*
> h.h5: none, 1 tensor,*
> 2
- -
- report.html
2> atomo-bench: standard output: not a regular file, which HDF5 needs
2> atomo-bench: standard input: at byte 0: not a payload container
= 0

# - as input is standard input, for report, plot, cost and training
? gnuplot --version
$ sh $SRC/test/cli/tiny.sh; atomo-bench compare $G -c none -c qsgd -q -o r.json; atomo-bench report r.json >a; cat r.json | atomo-bench report - | cmp - a && echo same; cat r.json | atomo-bench plot pareto - -o - | grep -c '</svg>'; ls; atomo-train run --network softmax --dataset mnist --max-steps 2 -q -o run.csv; cat run.csv | atomo-bench cost $G -c none --compute-from - -q | grep -c none; atomo-bench tune 2>/dev/null; atomo-train tune --network softmax --dataset mnist --lr 0.1 --max-steps 1 -q -f csv | atomo-train run --network softmax --dataset mnist --max-steps 1 --lr-from - -q | grep -c summary; cat $G | atomo-bench report -; echo x | atomo-bench report -; atomo-bench compare - -c none <$G
> same
> 1
- *.plot.csv
2> atomo-bench: report: -: a file of tensors, not a result
2> hint: atomo-bench compare FILE -o result.csv *
2> atomo-bench: report: -: *
2> hint: gradients are read from files alone*
= 1

# a name of standard output replaces no file and has no FILE.part: a run appends to the file that standard output is
$ echo mine >log; for o in /dev/stdout /dev/fd/1 /proc/self/fd/1; do atomo-bench compare $G -c none -q -f csv -v -o $o 2>&1 >>log | grep -i 'part:'; done; head -1 log; wc -l <log; ls
> mine
> *10
- *.part
= 0

# help and the pages of codecs fold too: only commands to copy, and single words, are longer than the terminal
$ w=40; export COLUMNS=$w; for p in atomo-bench atomo-train; do $p --help; for c in $($p --complete '' | grep -vx help); do $p $c --help; done; done >t; atomo-bench list --details >names; sed '/^Names in the literature/,$d' names >>t; awk -v w=$w 'length > w && !/^ +atomo-/ && NF > 2' t; wc -l <t | awk -v w=$w '{ print ($1 > 60000 / w) }'; unset COLUMNS; atomo-bench compare --help | awk 'length > 80 && !/^ +atomo-/' | wc -l; grep -c '^Reference: ' names; sed '1,/^Names in the literature/d' names | grep -q '^signSGD *sign ' || echo no names
> 1
> 0
> [1-9][0-9]
- ?*[ ]*
= 0

# counts of one take the singular
$ atomo-bench synth -o g.h5 --shape 10; atomo-bench encode g.h5 -c none -o a.atomo; atomo-bench decode a.atomo -o b.h5; atomo-bench convert g.h5 c.safetensors; atomo-bench synth -o h.h5 --shape 10 --shape 3
> g.h5: 1 normal tensor
> a.atomo: none, 1 tensor, *
> b.h5: none, 1 tensor, *
> c.safetensors: 1 tensor, *
> h.h5: 2 normal tensors
- * 1 tensors*
= 0
