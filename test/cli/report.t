# all results in a folder become one page, which is written to this folder
$ mkdir d; atomo-bench compare "$SRC"/datasets/lenet-mnist.h5 -t 'conv1*' -q --repeats 2 -c qsgd -c svd -o d/compare.json; atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -t "conv1*" -q -o d/inspect.csv; atomo-bench report d && ls d; grep -c '<h3>' d/report.html; cp d/report.html old; atomo-bench report d && cmp old d/report.html && echo same
> report.html
> 2
> same
2> wrote d/report.html
= 0

# every field of every command has a readable heading and a definition
$ mkdir d; f="$SRC"/datasets/lenet-mnist.h5; s='-q --step *1000'; t='-t conv1*'; atomo-bench compare $f $s $t --repeats 2 --equal-bits 2 -c qsgd -o d/a.csv; atomo-bench sweep $f $s $t --repeats 2 -c qsgd --rates 2,4 -o d/b.json; atomo-bench merge $f $s $t --workers 2 -c qsgd -o d/c.csv 2>no; atomo-bench verify $f $s $t -o d/d.csv; for k in '' --histogram --spectrum; do atomo-bench inspect $f $s $t $k -o d/e$k.csv; done; atomo-bench doctor -o d/f.json; atomo-bench list -o d/g.csv; atomo-bench list qsgd -o d/h.csv; sh "$SRC"/test/cli/tiny.sh; n='--network softmax --dataset mnist'; atomo-train run $n -q --max-steps 2 --batch-size 8 --eval-freq 2 --target-accuracy 0.01 -c none -o d/i.csv --train-dir r; atomo-train tune $n -q --max-steps 1 --batch-size 8 --points 1 --validation-share 0.1 -o d/j.csv; atomo-train eval -q --train-dir r -o d/k.csv; atomo-bench cost $f $s $t --repeats 2 -c qsgd --workers 2 -o d/l.csv 2>no; atomo-bench advise $f $s $t --repeats 2 -c qsgd --workers 2 -o d/m.csv 2>no; atomo-bench report d; grep -c '<h3>' d/report.html; grep -o '<th [^>]*title="[a-z_0-9.]*">' d/report.html; grep -c 'Left out' d/report.html
> 15
> 0
- <th *
= 1

# the page holds a result's columns as JSON for the explorer: numbers to 6 digits, texts by index, each compressor's family and promises
? command -v python3
$ mkdir d; printf 'tensor,compressor,repeats,bits_per_element,relative_error\n*,ef+topk:ratio=0.1,1,2.00000001,\n</script>,qsgd,1,1e-9,0.5\n*,no&such,1,3,0.25\n' >d/a.csv; atomo-bench report d -q; python3 -c 'import json, re; page = open("d/report.html").read(); (text,) = re.findall(r"<script type=.application/json. class=.data.>(.*?)</script>", page, re.S); d = json.loads(text); c = {k["name"]: k for k in d["columns"]}; print(d["id"], d["file"], d["kind"], d["command"], d["rows"], len(d["codecs"])); print(c["bits_per_element"]["values"], c["relative_error"]["values"], c["tensor"]["texts"], c["tensor"]["index"], c["compressor"]["texts"], c["compressor"]["index"]); print([(k["family"], k["flags"]) for k in d["codecs"]], len({k["colour"] for k in d["codecs"]}), "\\u003c" in text)'
> r0 a.csv compare None 3 3
> 2,1e-09,3 ,0.5,0.25 [[]'*', '</script>'] 0,1,0 [[]'ef+topk:ratio=0.1', 'qsgd', 'no&such'] 0,1,2
> [[]('ef+topk', [[]'stateful']), ('qsgd', [[]'unbiased']), ('no&such', [[]])] 3 True
= 0

# in a browser, for the pages of pages.sh: headings sort, the explorer answers, the console is empty, nothing is requested from a network, and no
# script in a file's data runs; a tensor without a row over all steps has points, values in closed form are exact, and an interval that reaches 0 is
# drawn; exponents, negative and whole numbers stand as in the data; runs that differ in their seed are joined, and no
# others
? command -v chromedriver && command -v python3
$ sh "$SRC"/test/cli/pages.sh && python3 "$SRC"/test/page.py hostile/report.html answers numbers/report.html 'first:relative error: 2.500 exact' 'first:relative error: 0.5 ± 0.4 (standard error)' 'first:relative error: 0.0001235' 'first:relative error: 1.250e-9' 'first:relative error: 12345678' 'first:bits/element: 0.2500' seeds/report.html 'in 2 runs' c.json crowd/report.html
> hostile/report.html: [1-9]* clicks, each table in order; no word on the console, no request to anywhere
> numbers/report.html: [1-9]* clicks, each table in order; no word on the console, no request to anywhere
> seeds/report.html: [1-9]* clicks, each table in order; no word on the console, no request to anywhere
> crowd/report.html: [1-9]* clicks, each table in order; no word on the console, no request to anywhere
2>
= 0

# a damaged file is named, and only its own results are missing
$ mkdir d; echo '{"results": [' >d/a.json; atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -t conv1.bias -q -o d/b.csv; atomo-bench report d; r=$?; grep -c '<h3>b.csv' d/report.html; exit $r
> 1
2> atomo-bench: report: d/a.json: JSON, byte *
= 1

# an empty folder has nothing to show
$ mkdir d; atomo-bench report d; r=$?; ls d; exit $r
>
2> atomo-bench: report: d: no result there
2> hint: results come with -o, as in: atomo-bench compare FILE -o d/compare.json
= 1

# a failure, such as a full disk, leaves an earlier page unchanged
$ mkdir d; echo before >d/report.html; atomo-bench report d --force; cat d/report.html
> before
2> *no result there
= 0

$ mkdir d; echo tensor,stable_rank >d/a.csv; ln -s /dev/full full.html; atomo-bench report d -o full.html
2> atomo-bench: report: full.html: cannot write: No space left on device
= 1

# without gnuplot the page is written without figures
$ mkdir d; printf 'tensor,compressor,repeats,bits_per_element,relative_error\n*,svd,1,2,0.5\n' >d/a.csv; b=$(command -v atomo-bench); PATH=/nonexistent "$b" report d; echo $?; grep -c 'No pareto figure: gnuplot: not found' d/report.html
> 0
> 1
2> note: no figures: gnuplot: not found (install the package gnuplot-nox, or put gnuplot in PATH)
= 0

# options for the file name and the title of the page
$ mkdir d; echo tensor,stable_rank >d/a.csv; atomo-bench report d --title 'a & b' -o p.html && grep -c '<title>a &amp; b</title>' p.html; ls d
> 1
> a.csv
- report.html
= 0

# one result as a table: its rows over all tensors, with readable numbers
$ printf 'step,tensor,compressor,repeats,bytes,relative_error,encode_ms\n1,a,svd,2,10,0.1,1\n1,*,svd,2,1000,0.25,1.5\n1,*,none,2,2000000,0,\n' >r.csv; atomo-bench report r.csv
> step  compressor   payload  rel. error  encode ms
>    1  svd         1.000 kB      0.2500      1.500
>    1  none        2.000 MB           0          -
- *10 B*
= 0

# columns by name in the given order, rows selected by value, sorted with missing values last
$ printf 'tensor,compressor,repeats,bytes\na,svd,2,10\nb,svd,2,9\nc,svd,2,\nd,none,2,1\n' >r.csv; atomo-bench report r.csv --where compressor=svd --where repeats=2.0 --columns bytes,tensor --sort bytes -f csv; atomo-bench report r.csv --all --columns tensor --sort bytes:desc -f csv | tr '\n' ' '
> bytes,tensor
> 9,b
> 10,a
> ,c
> tensor a b d c *
- *none*
= 0

# speed-ups over plain SGD, in the form of the paper's tables
$ printf 'record,compressor,step,sim_seconds,sim_seconds_to_0.65,sim_seconds_to_0.7\nsummary,none,9,9,3,6\nsummary,svd:rank=1,9,9,1,\nsummary,qsgd,9,9,4,12\n' >r.csv; atomo-bench report r.csv --speedup -f latex; atomo-bench report r.csv --speedup -f csv; atomo-bench report r.csv --speedup --baseline qsgd
> \\begin{tabular}{lrr}
> compressor & speed-up to 0.65 & speed-up to 0.7 \\\\
> svd:rank=1 & 3* & N/A \\\\
> qsgd,0.75,0.5
> svd:rank=1,3,
> svd:rank=1 *4 *N/A
= 0

$ printf 'record,compressor,step,sim_seconds\nsummary,none,9,9\n' >r.csv; atomo-bench report r.csv --speedup
2> atomo-bench: report: r.csv: it has no times to target accuracies
2> hint: speed-ups come from atomo-train run --target-accuracy*
= 1

# an accuracy that no run reached also has a column
$ printf 'record,compressor,step,sim_seconds,sim_seconds_to_0.65,sim_seconds_to_0.99\nsummary,none,9,9,3,\nsummary,qsgd,9,9,4,\n' >r.csv; atomo-bench report r.csv --speedup -f md
> | compressor | speed-up to 0.65 | speed-up to 0.99 |
> | qsgd | 0.75* | N/A |
= 0

# wrong arguments are refused
$ printf 'tensor,stable_rank\na,1\n' >r.csv; for o in '--columns stabel_rank' '--where x=1' '--where tensor' '--sort tensor:up' '-o p.html'; do atomo-bench report r.csv $o; echo $?; done
> 2
2> *r.csv: --columns: the result has no column "stabel_rank" (did you mean stable_rank?)
2> *r.csv: --where: the result has no column "x"*
2> *r.csv: --where tensor: want FIELD=VALUE or FIELD!=VALUE
2> *r.csv: --sort tensor:up: want FIELD or FIELD:desc
2> *r.csv: a result makes a table; want a directory for a page
- 1
- 0
= 0

# a table contains its source and command as a comment
$ printf '{"schema": "atomo-inspect/1", "meta": {"command": "atomo-bench inspect g.h5", "seed": 1}, "results": [{"tensor": "a_b", "stable_rank": 2}]}' >r.json; atomo-bench report r.json -f latex; atomo-bench report r.json -f json | grep command
> % command: atomo-bench inspect g.h5
> a\\_b & 2 *
>   "command": "atomo-bench inspect g.h5",
= 0

# facts from a foreign file remain in the LaTeX comment: none of their text is LaTeX code
$ printf '{"schema": "atomo-inspect/1", "meta": {"x\\n\\\\input{y}": "z\\n\\\\input{y}"}, "results": [{"tensor": "a", "stable_rank": 2}]}' >r.json; atomo-bench report r.json -f latex
> % x[?]\\input{y}: z[?]\\input{y}
- \\input*
= 0

# more columns than any result has are refused at once, for every table format
$ (echo '{"schema": "atomo-inspect/1", "results": [{"tensor": "a", "stable_rank": 2'; seq 255 | sed 's/.*/, "x&": 1/'; echo '}]}') >r.json; (echo tensor,stable_rank; seq 255 | sed 's/^/x/') | paste -sd, >r.csv; for r in r.json r.csv; do atomo-bench report $r; echo "code $?"; done; grep -v '"x255"' r.json >s.json; atomo-bench report s.json --columns tensor,x254 -f csv
2> *r.json: more than 256 columns
2> *r.csv: more than 256 columns
> code 1
> a,1
= 0

# a record may have its fields in any order, and may lack some
$ echo '{"schema": "atomo-inspect/1", "results": [{"tensor": "a", "stable_rank": 2, "x": 3}, {"x": 4, "stable_rank": 5, "y": 6, "tensor": "b"}, {"x": 7}, {"tensor": "c", "x": 8}]}' >r.json; atomo-bench report r.json -f csv --columns tensor,stable_rank,x
> a,2,3
> b,5,4
> ,,7
> c,,8
= 0

# a table cut off inside its last number is refused, for figures and for tables
$ f="$SRC"/datasets/lenet-mnist.h5; atomo-bench sweep $f -q -t conv1.weight --repeats 1 -c topk --rates 0.1,0.2 --metrics bits_per_element,relative_error -o all.csv; cut -d'"' -f1 all.csv >whole.csv; rm all.csv; head -c -4 whole.csv >torn.csv; for c in 'report torn.csv' 'plot pareto torn.csv -o x.svg' 'plot pareto whole.csv torn.csv -o x.svg' 'cost '$f' --compute-from torn.csv -o x.csv'; do atomo-bench $c; echo "code $?"; done; mkdir d; cp torn.csv d; atomo-bench report d; grep -c 'damaged: line [0-9]*, the last one' d/report.html; rm -r d; ls
> code 1
> 1
> torn.csv
> whole.csv
2> atomo-bench: report: torn.csv: line [0-9]*, the last one, has no line end: the file may be cut off
2> atomo-bench: plot: *torn.csv: line [0-9]*, the last one, *
2> hint: make it again; if it is whole, end its last line
- code 0
- x.svg
- x.csv
= 0

# rows selected by another value, and the value of a second column if the first is empty
$ printf 'compressor,workers,topology,comm_ms,pays,break_even_gbps\nnone,2,ring,1,,\nqsgd,2,ring,1,below,1.5\nqsgd,4,ring,1,never,\nsign,2,ring,1,always,\n' >r.csv; atomo-bench report r.csv --where 'compressor!=none' --columns compressor,break_even_gbps/pays -f csv; atomo-bench report r.csv --columns compressor,break_even_gbps/pys; printf 'tensor,stable_rank,a/b,a\nt,1,7,8\n' >s.csv; atomo-bench report s.csv --columns a/b,a -f csv
> compressor,break_even_gbps
> qsgd,1.5
> qsgd,never
> sign,always
> a/b,a
> 7,8
2> *--columns: the result has no column "pys" (did you mean pays?)
- none*
= 0

# a pivot table of one field, with published values beside measured ones
$ printf 'tensor,compressor,repeats,bytes,second_moment\na,svd,2,10,1\na,"qsgd:bits=2,code=rans",2,20,2\nb,svd,2,40,3\n*,svd,2,50,4\n' >r.csv; t="sh $SRC/plots/tables.sh"; b=$(command -v atomo-bench); $t across $b r.csv compressor o.csv --columns tensor,bytes --where 'tensor!=*' -q; cat o.csv; atomo-bench report o.csv -f md; $t across $b r.csv repeats x.csv --columns tensor,bytes --all; printf '{"schema": "atomo-published/1",\n"meta": {"source": "A paper"},\n"results": [{"compressor": "svd*", "setting": "x", "published bytes": 5000, "cause": "a \\"fault\\""}]}\n' >p.json; $t beside $b r.csv p.json compressor 'compressor,bytes,published bytes,cause,setting' j.json -q; atomo-bench report j.json -f latex; ls
> tensor,svd,"qsgd:bits=2,code=rans"
> a,10,20
> b,40,
> | tensor | svd | qsgd:bits=2,code=rans |
> % source: A paper
> compressor & payload, B & published payload, kB & cause & setting*
> svd & 50 & 5.000 & a "fault" & x*
2> tables: two rows have tensor a and repeats 2
- x.csv
= 0

# means over seeds: speed-ups over plain SGD of the same seed, differences of final accuracies, and step sizes by the mean loss
$ t="sh $SRC/plots/tables.sh"; b=$(command -v atomo-bench); run() { printf '{"schema": "atomo-run/1",\n"meta": {\n  "seed": %d},\n"results": [{"record": "summary", "compressor": "none", "step": 9, "sim_seconds": 9, "sim_seconds_to_0.9": %s, "test_accuracy": 0.5}, {"record": "summary", "compressor": "sign", "step": 9, "sim_seconds": 9, "sim_seconds_to_0.9": %s, "test_accuracy": %s}]}\n' "$@"; }; run 1 8 4 0.25 >1.json; run 7 9 3 0.5 >2.json; run 8 9 null 0.5 >3.json; $t speedups $b two.json 1.json 2.json; $t speedups $b three.json 1.json 2.json 3.json; grep -o 'seeds [0-9, ]*' two.json; atomo-bench report two.json -f csv; atomo-bench report two.json -f md | tail -n 1; grep -o '"speedup_to_0.9": null' three.json; tune() { printf '{"schema": "atomo-tune/1",\n"meta": {\n  "seed": %d},\n"results": [{"compressor": "none", "lr": 1, "validation_loss": %s, "validation_accuracy": 0.5, "chosen": false}, {"compressor": "none", "lr": 2, "validation_loss": %s, "validation_accuracy": 0.5, "chosen": true}]}\n' "$@"; }; tune 1 3 2 >1.json; tune 2 3 6 >2.json; $t tuned $b t.json 1.json 2.json; atomo-bench report t.json --columns lr,validation_loss,validation_loss_se,chosen,seeds -f csv; $t tuned $b - 1.json nothing.json
> seeds 1, 7, *
> compressor,speedup_to_0.9,speedup_to_0.9_se,test_accuracy,test_accuracy_se,accuracy_difference,accuracy_difference_se,seeds
> none,1,0,0.5,,,,2
> sign,2.5,0.5,0.375,0.125,-0.125,0.125,2
> | sign | 2.5 [+]- 0.5 | 0.38 [+]- 0.12 | -0.12 [+]- 0.12 | 2 |
> "speedup_to_0.9": null
> 1,3,,true,2
> 2,4,2,false,2
2> atomo-bench: report: nothing.json: cannot open*
= 1

# beside published values stand our standard errors and exact values
$ printf '{"schema": "atomo-compare/1",\n"results": [{"tensor": "a", "compressor": "qsgd", "bytes": 9, "repeats": 3, "relative_error": 0.5, "relative_error_se": 0.01, "relative_error_expected": null}, {"tensor": "a", "compressor": "svd", "bytes": 9, "repeats": 3, "relative_error": 0.5, "relative_error_se": 0.01, "relative_error_expected": 0.75}]}\n' >r.json; printf '{"schema": "atomo-published/1",\n"meta": {"source": "A paper"},\n"results": [{"compressor": "qsgd", "setting": "x", "published relative_error": 0.9}]}\n' >p.json; c='compressor,relative_error,published relative_error,setting'; sh "$SRC"/plots/tables.sh beside "$(command -v atomo-bench)" r.json p.json compressor "$c" j.json --all; atomo-bench report j.json --columns "$c" -f md
> | qsgd | 0.500 [+]- 0.010 | 0.9000 | x |
> | svd | 0.7500 exact | - | - |
= 0

# differences to plain SGD of the same seed: t intervals, p and Holm's p are SciPy's; none where all seeds differ by the same, or of a single seed
$ t="sh $SRC/plots/tables.sh"; b=$(command -v atomo-bench); run() { printf '{"schema": "atomo-run/1",\n"meta": {\n  "seed": %d},\n"results": [{"record": "summary", "compressor": "none", "step": 9, "sim_seconds": 9, "steps_to_0.9": %s, "bytes_up": 90, "test_accuracy": %s}, {"record": "summary", "compressor": "sign", "step": 9, "sim_seconds": 9, "steps_to_0.9": %s, "bytes_up": 10, "test_accuracy": %s}, {"record": "summary", "compressor": "qsgd", "step": 9, "sim_seconds": 9, "steps_to_0.9": %s, "bytes_up": 20, "test_accuracy": %s}]}\n' "$@"; }; run 1 8 0.1 4 0.25 9 0.4 >1.json; run 7 9 0.2 5 0.36 12 0.5 >2.json; run 8 9 0.3 5 0.45 10 0.6 >3.json; c=compressor,metric,difference,difference_se,interval,difference_low,difference_high,difference_p,difference_p_holm,differs; $t paired-costs $b x.json 1.json 2.json 3.json; atomo-bench report x.json -f csv --columns $c; $t paired-costs $b x.json 1.json; atomo-bench report x.json -f csv --columns compressor,metric,difference,differs; run 9 8 0.1 4 0.25 null 0.4 >3.json; $t paired-costs $b x.json 1.json 3.json; atomo-bench report x.json -f csv --columns $c | grep qsgd,steps; tune() { printf '{"schema": "atomo-tune/1",\n"meta": {\n  "seed": %d},\n"results": [{"compressor": "none", "lr": 1, "validation_loss": %s, "validation_accuracy": 0.5, "chosen": false}, {"compressor": "none", "lr": 2, "validation_loss": %s, "validation_accuracy": 0.5, "chosen": true}, {"compressor": "sign", "lr": 1, "validation_loss": %s, "validation_accuracy": 0.5, "chosen": false}]}\n' "$@"; }; tune 1 3 2 2.5 >1.json; tune 2 3 6 3.75 >2.json; $t paired-tuned $b t.json 1.json 2.json; atomo-bench report t.json -f csv --columns compressor,lr,metric,result,result_against,difference,difference_p
> compressor,metric,*
> sign,steps_to_0.9,-4,,,,,,,the same for each seed
> sign,test_accuracy,0.153333333,0.00333333333,0.139 to 0.168,0.138991158,0.167675509,0.00047225504*,0.00094451*,larger (p = 0.0009)
> qsgd,steps_to_0.9,1.66666667,0.666666667,'-1.2 to 4.5,-1.20176849,4.53510182,0.12961172*,0.12961172*,not seen
> qsgd,test_accuracy,0.3,,,,,,,the same for each seed
> sign,test_accuracy,0.15,cannot be seen with one seed
> qsgd,steps_to_0.9,,,,,,,,
> sign,1,validation_loss,3.125,3,0.125,0.87433408*
- bytes
= 0

# t intervals and p of more seeds are SciPy's, for odd and even degrees of freedom
$ b=$(command -v atomo-bench); n=0; for a in 0.25 0.36 0.45 0.31 0.28 0.5; do n=$((n + 1)); printf '{"schema": "atomo-run/1",\n"meta": {\n  "seed": %d},\n"results": [{"record": "summary", "compressor": "none", "step": 9, "sim_seconds": 9, "test_accuracy": 0.3}, {"record": "summary", "compressor": "sign", "step": 9, "sim_seconds": 9, "test_accuracy": %s}]}\n' $n $a >$n.json; done; for few in '1 2 3 4 5' '1 2 3 4 5 6'; do set -- $few; sh "$SRC"/plots/tables.sh paired-costs $b x.json $(printf '%s.json ' "$@"); atomo-bench report x.json -f csv --columns seeds,difference_low,difference_high,difference_p; done
> 5,-0.0673736*,0.127373*,0.440542*
> 6,-0.0452192*,0.161885*,0.207262*
= 0

# accuracies of single tests over seeds, and of the second half of each run with its first and last step size; results of one seed stand together
$ t="sh $SRC/plots/tables.sh"; b=$(command -v atomo-bench); tests() { n=0; for a in 0.1 null $4 $5; do n=$((n + 1)); [ $n -lt 3 ] && lr=$2 || lr=$3; printf '%s{"record": "step", "compressor": "%s", "step": %d, "sim_seconds": 9, "lr": %s, "test_accuracy": %s}' "$comma" $1 $n $lr $a; comma=', '; done; }; run() { comma=; printf '{"schema": "atomo-run/1",\n"meta": {\n  "seed": %d},\n"results": [' $1; tests none $2 $3 $4 $5; tests sign $2 $3 $6 $7; echo ']}'; }; run 1 2 1 0.9 0.8 0.7 0.5 >a1.json; run 2 2 1 0.9 1.0 0.7 0.8 >a2.json; run 1 4 4 0.5 0.6 0.6 0.6 >b1.json; run 2 4 4 0.5 0.6 0.6 0.6 >b2.json; $t tests $b x.json a1.json a2.json; atomo-bench report x.json -f csv; $t late $b x.json a1.json b1.json b2.json a2.json; grep -o 'seeds [0-9, ]*' x.json; atomo-bench report x.json -f csv --columns lr,lr_last,compressor,least_accuracy,test_accuracy,accuracy_difference,seeds; $t paired-late $b x.json a1.json a2.json; atomo-bench report x.json -f csv --columns lr,lr_last,compressor,metric,difference,seeds; $t late $b x.json a1.json a1.json
> seeds 1, 2, *
> 1,none,0.1,,2
> 3,none,0.9,,2
> 4,none,0.9,0.1,2
> 1,sign,0.1,,2
> 3,sign,0.7,,2
> 4,sign,0.65,0.15,2
> 2,1,none,0.85,0.9,,2
> 2,1,sign,0.6,0.65,-0.25,2
> 4,4,none,0.5,0.6,,2
> 4,4,sign,0.6,0.6,0,2
> 2,1,sign,least_accuracy,-0.25,2
> 2,1,sign,test_accuracy,-0.25,2
2> tables: two rows of a result have 2 1 none
= 1

# a record that is not an object is refused without a crash
$ printf '{"schema": "atomo-inspect/1", "results": [{"tensor": "a", "stable_rank": 1}, [1]]}' >r.json; atomo-bench report r.json
>
2> atomo-bench: report: r.json: record 2 is no object
= 1

# of arrays, only tensor shapes are values
$ printf '{"schema": "atomo-inspect/1", "results": [{"tensor": "a", "shape": [3, 4], "stable_rank": [[7]], "n": [1.5], "kind": ["b"]}]}' >r.json; atomo-bench report r.json -f csv --columns tensor,shape,stable_rank,n,kind
> tensor,shape,stable_rank,n,kind
> a,3x4,,,*
= 0

# --note adds a last column with the text in every row, also in tables of people
$ printf 'compressor,bytes\nqsgd,10\nsvd,20\n' >r.csv; for f in csv latex; do atomo-bench report r.csv --note 'a, "b" & c' -f $f; done; mkdir d; cp r.csv d; atomo-bench report d --note x
> compressor,bytes,remark
> qsgd,10,"a, ""b"" & c"
> *svd & 20 & a, *b* \\& c \\\\
2> *d: a directory makes a page of HTML, not a table
= 2

# the heading of a run has the number of workers and the seed; a run with one worker says so
$ sh "$SRC"/test/cli/tiny.sh; for p in 4 1; do atomo-train run --network softmax --dataset mnist --workers $p --max-steps 1 -c qsgd -q -o r$p.json; atomo-bench report r$p.json; done; atomo-bench report r4.json -f latex
> record *compressor (4 workers, seed 1) *
> record *compressor (1 worker, seed 1) *
> *compressor (4 workers, seed 1) &*
2>
= 0

# a codec looks the same on the page in every order of the rows
? command -v python3
$ mkdir a b; seq 9 38 | sed 's/.*/*,svd:rank=&,1,&,0.5/' >rows; head='tensor,compressor,repeats,bits_per_element,relative_error'; { echo $head; cat rows; } >a/c.csv; { echo $head; sort -r rows; } >b/c.csv; for d in a b; do atomo-bench report $d -q; python3 -c 'import json, re, sys; page = open(sys.argv[1]).read(); (text,) = re.findall(r"<script type=.application/json. class=.data.>(.*?)</script>", page, re.S); d = json.loads(text); names = {k["name"]: k for k in d["columns"]}["compressor"]["texts"]; looks = sorted((n, c["colour"], c["mark"], c["dash"]) for n, c in zip(names, d["codecs"])); print(len(set(l[1:] for l in looks))); print(looks, file=open(sys.argv[2], "w"))' $d/report.html $d.looks; done; cmp a.looks b.looks && echo alike
> 30
> alike
= 0

# an empty file, as a full disk leaves it, is called empty
$ : >e.csv; for c in 'report e.csv' 'plot pareto e.csv -o p.svg'; do atomo-bench $c; echo $?; done; ls
2> atomo-bench: report: e.csv: is empty: want CSV text that begins with the names of columns
2> atomo-bench: plot: e.csv: is empty: want CSV text that begins with the names of columns
> 1
> 1
> e.csv
= 0
