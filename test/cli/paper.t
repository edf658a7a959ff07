# every command in the list of figures and tables works and makes the files that it names, of results that are timed or trained
? command -v gnuplot
$ sh "$SRC"/test/cli/tiny.sh dump; sed '/^passes:/,$d' "$SRC"/plots/paper.list >list; ln -s "$SRC"/plots/published .; b=$(dirname "$(command -v atomo-bench)"); PAPER_LIST=list PAPER_QUICK=1 PAPER_TRAIN='--dataset mnist --network softmax' sh "$SRC"/plots/paper.sh $b out; r=$?; grep missing out/index.md; for f in out/*.svg out/*.csv out/*.tex; do case $f in *.plot.csv | *-published.*) ;; *) grep -q 'quick test on small data, the numbers mean nothing' $f || echo "unmarked $f" ;; esac; done; for f in figure-2.pdf figure-3.svg figure-4.tex figure-5.pdf break-even.csv merge.svg table-3.tex table-5.csv table-3-differences.tex table-5-differences.csv table-6-published.tex report.html; do test -s out/$f && echo has $f; done; cut -d, -f1 out/break-even.csv | paste -sd' '; grep -c '"svd:rank=1,draw=systematic",.*,2470084,' out/figure-4.csv; grep -c 'data-v="5586984"' out/report.html; exit $r
> has figure-2.pdf
> has figure-3.svg
> has figure-4.tex
> has figure-5.pdf
> has break-even.csv
> has merge.svg
> has table-3.tex
> has table-5.csv
> has table-3-differences.tex
> has table-5-differences.csv
> has table-6-published.tex
> has report.html
> compressor fp16 *bf16:code=rans* sign qsgd terngrad svd powersgd ef+topk
> 1
> 1
2>
- unmarked*
- *missing*
- *FAILED*
= 0

# the runs of docs/results.md make all results that its tables name, and a figure of one dump's front; rates.sh puts them into one file, whose checksum tables.py writes
? command -v gnuplot && command -v python3
$ sh "$SRC"/test/cli/tiny.sh dump; b=$(dirname "$(command -v atomo-bench)"); { sed '/^@front/,/^$/{/^    figure/d}' "$SRC"/plots/results.list; printf '\none-front: Size against error\n    from front\n'; sed -n '/^@front/,/^$/{/^    figure/p}' "$SRC"/plots/results.list; } >list; PAPER_LIST=list PAPER_DUMPS=resnet18 PAPER_PAGE=no PAPER_QUICK=1 PAPER_TRAIN='--dataset mnist --network softmax' sh "$SRC"/plots/paper.sh $b out >log; r=$?; grep FAILED log; tables=$(sed -n 's/^<!-- long table: .*[$]results.\([^ ]*\).*/\1/p' "$SRC"/docs/generated/rates.md "$SRC"/docs/results.md | grep -v -e vgg11 -e gpt-nano -e gpt-char); sh "$SRC"/plots/rates.sh all results.json $(for f in $tables; do echo out/data/$f; done); sed '/^<!-- \(long table\|made\)/d; /^|/d' "$SRC"/docs/results.md >page; python3 "$SRC"/test/tables.py make $b "$PWD/page" >/dev/null; sed -n '/^<!-- facts/{n;p;}' page | grep -c "$(sha256sum <results.json | cut -c 1-64)"; atomo-bench report results.json --columns of,compressor,repeats -f csv | cut -d, -f 1 | sort | uniq -c | awk '$1 > 2 { print $2 }' | paste -sd ' '; test -s out/one-front.pdf && test -s out/one-front.svg && echo drawn; exit $r
> 1
> drawn
> fc-means gpt-means lenet-means rates rates-resnet18
= 0

# a codec whose size is over 15 % off has no error at that size; the mean of 4 workers has a fourth of an unbiased codec's error
$ for b in 1 4; do atomo-bench compare $SRC/datasets/lenet-mnist.h5 -s '*1000' -t fc2.weight --equal-bits $b --repeats 1 -c entry -c scaledsign -c fp16 -q -o $b.json; done; atomo-bench merge $SRC/datasets/lenet-mnist.h5 -s '*1000' -t fc2.weight --workers 4 --noise 0 $(sh $SRC/plots/rates.sh specs atomo-bench 1.json | tr -d "'") -q -o m.json; sh $SRC/plots/rates.sh table atomo-bench 1.json 1.json 4.json m.json -o t.json; atomo-bench report t.json -f csv --columns 'compressor,1 relative_error,4 relative_error,of the mean relative_error,payloads merge' | awk -F, 'NR > 1 { print $1, ($3 != ""), $5, $4 / $2 == 0.25 ? "a fourth" : $4 == $2 ? "all" : "wrong" }'
> entry 1 no a fourth
> scaledsign 0 no all
= 0

# a codec counts by its expected size: one draw of svd at a quarter bit has a three-hundredth of it, or three times as much
$ for r in 1 2; do atomo-bench compare $SRC/datasets/lenet-mnist.h5 -s '*1000' -t conv2.weight --equal-bits 0.25 --repeats 1 --seed $r -c svd -q -o r.json; sh $SRC/plots/rates.sh specs atomo-bench r.json; done
> -c 'svd:rank=0.354'
> -c 'svd:rank=0.354'
= 0

# the training runs of docs/training.md make all results that its tables name; tables.py puts a table below its mark, and keeps a table without a result
? command -v python3
$ sh "$SRC"/test/cli/tiny.sh; b=$(dirname "$(command -v atomo-bench)"); DATA=full PAPER_LIST="$SRC"/plots/training.list PAPER_PAGE=no PAPER_QUICK=1 PAPER_TRAIN='--dataset mnist --network softmax' sh "$SRC"/plots/paper.sh $b out >log; r=$?; grep FAILED log; sed -n 's/^<!-- long table: .*[$]training.\([^ ]*\).*/\1/p' "$SRC"/docs/training.md | while read -r f; do test -s out/data/$f && echo "has $f" || echo "lost $f"; done; printf 'a\n\n<!-- long table: atomo-bench report $training/costs.json --where compressor=none --columns compressor,bytes_up -f md -->\n| old |\n| x |\n\nb\n\n<!-- long table: atomo-bench report $training/nothing.json -f md -->\n| kept |\n' >page; training=$PWD/out/data LONG=1 python3 "$SRC"/test/tables.py make $b "$PWD/page"; cat page; exit $r
> has ../step-sizes-across.json
> has costs.json
> has costs-differences.json
> has noise.json
> has mnist.json
> <!-- long table: atomo-bench report $training/costs.json --where compressor=none --columns compressor,bytes_up -f md -->
> | compressor | sent |
> | none | 125.6 kB |
> b
> <!-- long table: atomo-bench report $training/nothing.json -f md -->
> | kept |
> *$training/nothing.json is not there, the table stays
- lost *
- | old*
- *FAILED*
= 0

# the rest of the list: published values beside measured ones, in tables and on the page; missing data sets and dumps are named and are no failure
? command -v gnuplot
$ sh "$SRC"/test/cli/tiny.sh dump; sed '5,/^passes:/{/^[^#]/d}' "$SRC"/plots/paper.list | sed '/^    data.*atomo-train run --threads/d; s/bench \(sweep\|verify\) $dump $pick/& $one_step/' >list; sed -i '/^figure-1:/,/^$/d' list; b=$(dirname "$(command -v atomo-bench)"); DATA=full PAPER_LIST=list PAPER_QUICK=1 sh "$SRC"/plots/paper.sh $b out; r=$?; grep missing out/index.md; for f in gradients-conv.pdf gradients-fc.svg errors.pdf pareto.svg table-1.csv verify.tex fork-error-1.csv fork-error-2.tex fork-error-3.csv fork-layers.tex fork-whole.csv fork-payload.tex fork-merge.csv; do test -s out/$f && echo has $f; done; cat "$SRC"/plots/published/fork-[elwp]*.json | grep -o '"published [a-z_]*": [0-9.e-]*' | sed 's/.*: //; s/\.0$//' | sort -u >printed; wc -l <printed; cat out/fork-*.csv | tr , '\n' | sort -u | comm -23 printed - | sed 's/^/lost /'; grep -o 'data-v="[^"]*' out/report.html | cut -d'"' -f2 | sort -u >shown; grep '[.]' printed | comm -23 - shown | sed 's/^/lost on the page: /'; exit $r
> has gradients-conv.pdf
> has gradients-fc.svg
> has errors.pdf
> has pareto.svg
> has table-1.csv
> has verify.tex
> has fork-error-1.csv
> has fork-error-2.tex
> has fork-error-3.csv
> has fork-layers.tex
> has fork-whole.csv
> has fork-payload.tex
> has fork-merge.csv
> 84
> figure-3b: left out: datasets/svhn is not there
> resnet18-cifar10: left out: datasets/resnet18-cifar10.h5 is not there
2>
- *missing*
- *FAILED*
- lost *
= 0

# the singular values of a training run's gradients; the commands printed beside the figure draw it again
? command -v gnuplot
$ sh "$SRC"/test/cli/tiny.sh dump; { sed -n '/^passes:/,/^$/p' "$SRC"/plots/paper.list; sed -n '/^figure-1:/,/^$/p' "$SRC"/plots/paper.list; } >list; b=$(dirname "$(command -v atomo-bench)"); PAPER_LIST=list PAPER_QUICK=1 PAPER_TRAIN='--dataset mnist --test-batch-size 100' sh "$SRC"/plots/paper.sh $b out; mv out/figure-1.svg before.svg; rm -r out/*.pdf out/data/figure-1.json; sh out/figure-1.sh && cmp before.svg out/figure-1.svg && ls out/figure-1.pdf
> out/figure-1.pdf
- *FAILED*
= 0

# existing results are kept; missing results, and results of another command or of older inputs, are made again
? command -v gnuplot
$ b=$(dirname "$(command -v atomo-bench)"); printf 'a: A\n    data $bench inspect $dump -t conv2.weight --spectrum\n    figure spectrum\n\nb: B\n    data $bench inspect $dump -t fc2.weight\n    table\n' >list; export PAPER_LIST=list; p="sh $SRC/plots/paper.sh $b out"; $p >1; $p >2; grep -c 'as it was' 2; rm out/a.svg; $p >3; grep 'as it was' 3; sed -i s/fc2/fc1/ list; $p >4; grep 'as it was' 4; [ out/report.html -nt out/data/b.json ] && echo the page is new; grep -o ',fc1.weight,' out/b.csv | sort -u; sleep 1; touch out/data/a.json; $p | grep 'as it was'
> 2
> b: as it was
> a: as it was
> the page is new
> ,fc1.weight,
> b: as it was
2>
= 0

# a step that fails is named with its log; the steps that need its results are skipped, the others run
$ b=$(dirname "$(command -v atomo-bench)"); printf 'a: A\n    data $bench inspect nothing.h5\n    table\n\nb: B\n    from a\n    table\n\nc: C\n    data $bench inspect $dump\n    table\n\nd: D\n    data $bench inspect --nonsense\n' >list; PAPER_LIST=list sh "$SRC"/plots/paper.sh $b out; r=$?; ls out; cat out/index.md; exit $r
> c.csv
> c.tex
> a.csv (missing)*
> c: *
2> a: FAILED, exit code 1: out/log/a.log
2> *nothing.h5*
2> d: FAILED, exit code 2: out/log/d.log
2> paper: 2 steps failed
- b.csv
= 1

# without gnuplot the tables are made, and the figures are named as missing
$ mkdir p; for c in cat date dirname ls mkdir mv rm sed sh tail; do ln -s "$(command -v $c || echo /bin/$c)" p/; done; b=$(dirname "$(command -v atomo-bench)"); printf 'a: A\n    data $bench inspect $dump -t conv2.weight --spectrum\n    figure spectrum\n    table\n' >list; PATH=$PWD/p PAPER_LIST=list sh "$SRC"/plots/paper.sh $b out; r=$?; ls out; exit $r
> a.csv
> a.tex
> report.html
2> a.pdf: not drawn: gnuplot is not here (the package gnuplot-nox)
2> a.svg: not drawn: *
- a.pdf
= 1

# index.md shows each figure that was drawn; a quick run says so in the titles of index.md and of the page, in each figure and in each table; another run does not
? command -v gnuplot
$ b=$(dirname "$(command -v atomo-bench)"); printf 'a: A\n    data $bench inspect $dump -t conv2.weight --spectrum\n    figure spectrum\n\nb: B\n    data $bench inspect $dump -t fc2.weight\n    table\n' >list; export PAPER_LIST=list; for quick in 1 ''; do PAPER_QUICK=$quick sh "$SRC"/plots/paper.sh $b out >log; head -1 out/index.md; grep -F '![' out/index.md; ls out/a.svg; grep -c 'quick test on small data, the numbers mean nothing' out/report.html; for f in a.svg b.csv b.tex; do echo "$f:$quick: $(grep -c 'quick test on small data, the numbers mean nothing' out/$f)"; done; done; true
> # Figures and tables of the paper: quick test on small data, the numbers mean nothing
> ![[]*](a.svg)
> out/a.svg
> [1-9]
> # Figures and tables of the paper
> ![[]*](a.svg)
> out/a.svg
> 0
> a.svg:1: 1
> b.csv:1: [1-9]*
> b.tex:1: [1-9]*
> a.svg:: 0
> b.csv:: 0
> b.tex:: 0
2>
= 0

# figures 2, 3 and 5 of plots/resnet.list, on twenty images in CIFAR-10's format: what differs from the paper stands above them; a second time nothing is made anew
? command -v gnuplot
$ mkdir -p d/cifar10; head -c 61460 /dev/zero | tee d/cifar10/data_batch_1.bin >d/cifar10/test_batch.bin; b=$(dirname "$(command -v atomo-bench)"); for i in 1 2; do DATASETS=d PAPER_QUICK=1 PAPER_HEADING=Small PAPER_LIST="$SRC"/plots/resnet.list PAPER_TRAIN='--network softmax' sh "$SRC"/plots/paper.sh $b out >log 2>&1 || cat log; done; grep -c 'as it was' log; head -1 out/index.md; grep -c missing out/index.md; sed -n '/^| images/p; /^The paper/p; /^In the paper/p; /^!/p' out/index.md; wc -c <out/data/cifar10/data_batch_1.bin; head -c 3073 d/cifar10/test_batch.bin >x; mv x d/cifar10/test_batch.bin; sed -n '/^images-test:/,/^$/p' "$SRC"/plots/resnet.list >list; DATASETS=d PAPER_QUICK=1 PAPER_LIST=list PAPER_PAGE=no sh "$SRC"/plots/paper.sh $b out2 2>&1 >log | grep want
> 9
> # Small: quick *
> 0
> | images | CIFAR-10: 50,000 for training | the same | the first 16 of them, tested on the first 8 of the test images |
> The paper's figures are images*
> In the paper, compute falls*
> ![[]*](figure-2.svg)
> In the paper, SVD*
> ![[]*](figure-3.svg)
> In the paper, SVD and QSGD*
> ![[]*](figure-5.svg)
> 49168
> *d/cifar10/test_batch.bin: 1 records, want 8 or more
2>
= 0
