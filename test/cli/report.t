# one page of all results in a folder, beside them
$ mkdir d; atomo-bench compare "$SRC"/datasets/lenet-mnist.h5 -q --repeats 2 -c qsgd -c svd -o d/compare.json; atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -q -o d/inspect.csv; atomo-bench report d && ls d; grep -c '<h3>' d/report.html; cp d/report.html old; atomo-bench report d && cmp old d/report.html && echo same
> report.html
> 2
> same
2>
= 0

# every field of every command has a plain heading and a definition
$ mkdir d; f="$SRC"/datasets/lenet-mnist.h5; s='-q --step *1000'; t='-t conv1*'; atomo-bench compare $f $s $t --repeats 2 --equal-bits 2 -c qsgd -o d/a.csv; atomo-bench sweep $f $s $t --repeats 2 -c qsgd --rates 2,4 -o d/b.json; atomo-bench merge $f $s $t --workers 2 -c qsgd -o d/c.csv 2>no; atomo-bench verify $f $s $t -o d/d.csv; for k in '' --histogram --spectrum; do atomo-bench inspect $f $s $t $k -o d/e$k.csv; done; atomo-bench doctor -o d/f.json; atomo-bench list -o d/g.csv; atomo-bench list qsgd -o d/h.csv; atomo-train run -q --max-steps 2 --batch-size 8 --eval-freq 2 --test-batch-size 1000 --target-accuracy 0.01 -c none -o d/i.csv --train-dir r; atomo-train tune -q --max-steps 1 --batch-size 8 --points 1 --validation-share 0.001 -o d/j.csv; atomo-train eval -q --train-dir r -o d/k.csv; atomo-bench cost $f $s $t --repeats 2 -c qsgd --workers 2 -o d/l.csv 2>no; atomo-bench report d; grep -c '<h3>' d/report.html; grep -o '<th [^>]*title="[a-z_0-9.]*">' d/report.html; grep -c 'Left out' d/report.html
> 14
> 0
- <th *
= 1

# in a browser: headings sort, nothing on the console, no request to anywhere, no script of a file's runs
? command -v chromedriver && command -v python3
$ mkdir d; x='<script>window.alerted=1</script>'; y='"><img src=x onerror=window.alerted=1>'; printf '{"schema": "atomo-inspect/1", "meta": {"command": "%s"}, "results": [{"tensor": "%s", "stable_rank": 10, "n": null, "kind": "b"}, {"tensor": "z", "stable_rank": 9, "n": 2, "kind": null}, {"tensor": "a", "stable_rank": 1e-9, "n": 1, "kind": "a"}]}' "$x" "$x" >d/a.json; printf '<svg xmlns="http://www.w3.org/2000/svg"><script>window.alerted=1</script><image href="http://127.0.0.1:9/x"/></svg>' >d/b.svg; printf 'tensor,compressor,repeats,bits_per_element,relative_error,error\n*,svd,1,2,0.5,\n*,qsgd,1,10,,%s\n' "$x" >"d/$y.csv"; atomo-bench report d && python3 "$SRC"/test/page.py d/report.html
> *clicks, each table in order; no word on the console, no request to anywhere
2>
= 0

# a damaged file is named, and costs itself alone
$ mkdir d; echo '{"results": [' >d/a.json; atomo-bench inspect "$SRC"/datasets/lenet-mnist.h5 -q -o d/b.csv; atomo-bench report d; r=$?; grep -c '<h3>b.csv' d/report.html; exit $r
> 1
2> atomo-bench: report: d/a.json: JSON, byte *
= 1

# an empty folder has nothing to show
$ mkdir d; atomo-bench report d; r=$?; ls d; exit $r
>
2> atomo-bench: report: d: no result there
2> hint: results come with -o, as in: atomo-bench compare FILE.h5 -o d/compare.json
= 1

# a folder that is not there, one that is a file
$ atomo-bench report nothing
2> atomo-bench: report: nothing: cannot be listed: No such file or directory
= 1

$ atomo-bench report
2> atomo-bench: report: an argument is missing: want DIR
= 2

# an earlier page survives a failure, and a full disk is one
$ mkdir d; echo before >d/report.html; atomo-bench report d; cat d/report.html
> before
2> *no result there
= 0

$ mkdir d; echo tensor,stable_rank >d/a.csv; atomo-bench report d -o /dev/full
2> atomo-bench: report: /dev/full: cannot write: No space left on device
= 1

# without gnuplot the page stands without figures
$ mkdir d; printf 'tensor,compressor,repeats,bits_per_element,relative_error\n*,svd,1,2,0.5\n' >d/a.csv; b=$(command -v atomo-bench); PATH=/nonexistent "$b" report d; echo $?; grep -c 'No pareto figure: gnuplot: not found' d/report.html
> 0
> 1
2> note: no figures: gnuplot: not found (install the package gnuplot-nox, or put gnuplot in PATH)
= 0

# its name and its title
$ mkdir d; echo tensor,stable_rank >d/a.csv; atomo-bench report d --title 'a & b' -o p.html && grep -c '<title>a &amp; b</title>' p.html; ls d
> 1
> a.csv
- report.html
= 0
