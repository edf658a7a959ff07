# names that have a meaning for a terminal, a spreadsheet, gnuplot or our own files do no harm
? command -v python3
$ python3 "$SRC"/test/cli/tensors.py n.h5 '{n: [[1.0, 2, 3], [3, 4, 9]] for n in (" ", "*", "=1+1", "@a", "-b", "\u0027q", "a\u202eb", "c\x1b[2Jd")}'; atomo-bench compare n.h5 -c none --per-tensor --metrics bytes; atomo-bench compare n.h5 -c none -o c.csv; cut -d, -f 3 c.csv; atomo-bench compare n.h5 -c none -f json; atomo-bench encode n.h5 -c none -q -o a.atomo && atomo-bench decode a.atomo -q -o m.h5 && atomo-bench compare m.h5 -c none --metrics bytes -f csv >m.csv; grep -c '^,,[*],,,' m.csv
>         none *
> /[*] * none *
> [*] * none *
> a?b *
> c?[[]2Jd *
> '=1+1
> '@a
> '-b
> ''q
> /[*]
> *"tensor": "=1+1"*
> *"tensor": "a\\u202eb"*
> *"tensor": "c\\u001b[[]2Jd"*
> 1
= 0

# CSV on a terminal has question marks for what steers it; in a file it has the names as they are, with an apostrophe before a line end
? command -v python3 && script -qc true /dev/null # needs python3, and a terminal of script's
$ python3 "$SRC"/test/cli/tensors.py n.h5 '{n: [1.0, 2] for n in ("a\u202eb", "c\x1b[2Jd", "\n=1+1")}'; TERM=xterm script -qc 'atomo-bench inspect n.h5 -f csv --color never' /dev/null | tr -d '\r' >t; LC_ALL=C grep -c '[^ -~]' t; cut -d, -f 3 t; atomo-bench inspect n.h5 -f csv | cut -d, -f 3- | grep -c -e "^\"'$" -e "$(printf '^a\342\200\256b,')" -e "$(printf '^c\033.2Jd,')"
> 0
> a?b
> c?[[]2Jd
> "'?=1+1"
> 3
= 0

# ... and are read back unchanged
? command -v python3
$ python3 "$SRC"/test/cli/tensors.py n.h5 '{n: [[1.0, 2, 3], [3, 4, 9]] for n in ("=1+1", "\u0027q", "-b")}'; atomo-bench compare n.h5 -c none -o c.csv; atomo-bench report c.csv --columns tensor,bytes --where tensor!=x -f json | grep -o '"tensor": "[^"]*"'; atomo-bench report c.csv --columns tensor -f csv --where tensor==1+1
> "tensor": "=1+1"
> "tensor": "'q"
> "tensor": "-b"
> '=1+1
= 0

# a dataset whose name has control characters is printed with question marks in a note
? command -v python3
$ python3 "$SRC"/test/cli/tensors.py n.h5 '{"a\u202eb\x1b[2J": [[1.0, 2], [3, 4]]}'; atomo-bench compare n.h5 -c none -v -q >/dev/null; atomo-bench compare n.h5 -c none -t nothing
2> note: finished: none on a?b?[[]2J
2> atomo-bench: n.h5: no tensor matches "nothing"*a?b?[[]2J*
= 2

# a column whose name has control characters is printed with question marks in every table
$ printf 'compressor,bytes,a\342\200\256b\033[2J\nnone,32,x\n' >r.csv; for f in table md latex; do atomo-bench report r.csv --all --columns "$(printf 'compressor,a\342\200\256b\033[2J')" -f $f >out || echo failed; grep -c 'a?b?[[]2J' out; tr -d '\n\040-\176' <out | wc -c; done
> 1
> 0
> 1
> 0
> 1
> 0
= 0

# where one codec is wanted, alternatives are refused, and the hint names the first
$ atomo-bench encode $SRC/datasets/lenet-mnist.h5 -c ef+qsgd:bits=2/4,bucket=64 -o a.atomo
2> atomo-bench: codec ef+qsgd:bits=2/4,bucket=64: 2/4 are alternatives, and one codec is wanted here
2> hint: write ef+qsgd:bits=2,bucket=64
= 2

# specs are shown as they were typed, in every format, and found there; the complete spec stands beside them
$ set -- compare $G -c TopK:ratio=0.010 -c qsgd:bits=4/2 -c topk --repeats 1 --metrics bytes -q; atomo-bench "$@" 2>&1 | cut -c 1-17; for f in csv json md latex; do atomo-bench "$@" -o r.$f -f $f 2>/dev/null; grep -c 'TopK:ratio=0.010\|qsgd:bits=[24]' r.$f; done; atomo-bench report r.csv --where compressor=TopK:ratio=0.010 --columns compressor,spec -f csv | tail -1; atomo-bench report r.json --where spec=topk:ratio=0.01,share=off --columns compressor -f csv | tail -1; atomo-bench report r.csv --where compressor=topk --where compressor!=qsgd --columns compressor -f csv | tail -1
> compressor*
> TopK:ratio=0.010 
> qsgd:bits=4      
> qsgd:bits=2      
> 6
> 7
> 3
> 4
> TopK:ratio=0.010,"topk:ratio=0.01,share=off"
> TopK:ratio=0.010
> TopK:ratio=0.010
= 0

# names of the literature are taken where a codec is the method, and noted
$ atomo-bench compare $G -c EF-signSGD -c 'gradient dropping:ratio=0.1' --repeats 1 --metrics bytes -f csv -q | tail -2; atomo-bench list signSGD -q | head -1; atomo-bench encode $G -c ternary -o g.atomo -q; atomo-bench compare $G -c signum
2> note: EF-signSGD is ef+scaledsign here
2> note: gradient dropping:ratio=0.1 is ef+topk:ratio=0.1 here
> 1,,[*],,,2048,EF-signSGD,1,*,,1,"ef:decay=1,lowpass=1+scaledsign*
> 1,,[*],,,2048,gradient dropping:ratio=0.1,1,*,,1,"ef:decay=1,lowpass=1+topk:ratio=0.1,share=off"
2> note: signSGD is sign here
> sign
2> note: ternary is terngrad here
> g.atomo: ternary, 1 tensor*
2> hint: try sign; Signum sends the signs of a momentum, sign those of the gradient
= 2

# a spec that is typed in another way continues a run, finds its step size, and is its codec in --against and --label
$ sh $SRC/test/cli/tiny.sh; atomo-train run --network softmax --dataset mnist --max-steps 2 --eval-freq 2 -c none -c TopK:ratio=0.010 --train-dir t -q; ls t; atomo-train run --network softmax --dataset mnist --max-steps 4 --eval-freq 2 -c none -c topk --train-dir t -q --resume -f csv -o r.csv 2>&1 | grep -c '2 of the first 2 steps'; atomo-train eval --train-dir t; atomo-train eval --train-dir t/topk -q -f csv | cut -d, -f 1,3; printf 'compressor,lr,chosen\ntopk,0.125,true\n' >lr.csv; atomo-train run --network softmax --dataset mnist --max-steps 1 -c topk:ratio=1e-2 --lr-from lr.csv -q -f csv | cut -d, -f 2,17
> none
> topk
> 2
2> atomo-train: t: no checkpoint there
2> hint: a run of several codecs has a folder for each in its --train-dir
> step,compressor
> 2,TopK:ratio=0.010
> 4,TopK:ratio=0.010
> compressor,lr
> topk:ratio=1e-2,0.125
> topk:ratio=1e-2,0.125
= 0
