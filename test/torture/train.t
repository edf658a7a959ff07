# a run stopped by a signal again and again, in a step or in a test, ends with the records and weights of an uninterrupted run
$ sh $SRC/test/cli/tiny.sh; go() { exec atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 60 --eval-freq 2 --workers 2 -c ef+topk:ratio=0.01 -q --train-dir $1 -o $1.csv $2; }; lines() { grep -cs '' b.csv.part; }; (go a); for i in 1 2 3 4 5 6 7 8; do [ -e b.csv ] && break; was=$(lines); (go b --resume) 2>err & until [ -e b.csv ] || [ "$(lines)" -gt $((${was:-0} + 3)) ] || ! kill -0 $!; do sleep 0.002; done 2>/dev/null; kill -TERM $! 2>/dev/null; wait $!; done; [ -e b.csv ] || (go b --resume); for f in a b; do cut -d, -f 1-10,17 $f.csv >$f.cut; done; cmp a.cut b.cut && echo same records; cmp a/step_00000060.h5 b/step_00000060.h5 && echo same weights
> same records
> same weights
= 0

# a killed command goes on with --resume, and then replaces the older result that was there
$ sh $SRC/test/cli/interrupted.sh -c none -c qsgd --seeds 2; atomo-train run --threads 1 --network softmax --dataset mnist -q --max-steps 1 -o old.csv; cp old.csv r.csv; cp r.csv old; go() { atomo-train run --threads 1 --network softmax --dataset mnist -q --eval-freq 4 --train-dir d -o r.csv --resume "$@"; code="$code $?"; cmp -s r.csv old || { code="$code:replaced"; cp r.csv old; }; }; go -c none -c qsgd --seeds 2 --max-steps 16; awk -F, '$1 == "step" { n[$2 " " $18]++ } $1 == "summary" { print $2, $18, n[$2 " " $18], $9 != "", $15 != "" }' r.csv; echo codes$code; ls
> none 1 16 1 1
> qsgd 1 16 1 1
> none 2 16 1 1
> qsgd 2 16 1 1
> codes 0:replaced
- r.csv.part
= 0

# an interrupted run keeps finished records, and --resume continues it
$ sh $SRC/test/cli/tiny.sh; atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 1000000 --eval-freq 200 --train-dir d -f csv -q >o.csv & p=$!; while [ -d /proc/$p ] && [ ! -e d/step_00000200.h5 ]; do sleep 0.05; done; kill -TERM $p; wait $p; code=$?; last=$(tail -n 1 o.csv | cut -d, -f 3); ls d | tail -n 1 | grep "step_0*$last.h5" >/dev/null && echo it is the last record; exit $code
> it is the last record
2> atomo-train: stopped after step * of 1000000
= 130

# eval --follow waits for a run that has not begun, tests each new checkpoint once, and ends with the run
$ sh $SRC/test/cli/tiny.sh; atomo-train eval --threads 1 --train-dir d --follow -q -f csv >o.csv & e=$!; sh $SRC/test/cli/catches.sh $e; atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 600 --eval-freq 100 --train-dir d -q >/dev/null; wait $e; code=$?; cut -d, -f 1 o.csv | tr '\n' ' '; exit $code
> step 100 200 300 400 500 600 *
2>
= 0

# eval --follow prints what it waits for
$ mkdir d d/none; for d in nowhere d; do atomo-train eval --threads 1 --train-dir $d --follow -f csv >/dev/null 2>$d.notes & e=$!; while ! grep -q waiting $d.notes && kill -0 $e; do sleep 0.02; done; kill -TERM $e; wait $e; code=$?; cat $d.notes >&2; done; exit $code
2> note: nowhere: no such folder; waiting for a run that makes it
2> note: d: no checkpoint there; waiting for a run (a run of several codecs has a folder for each*
= 130

# an interrupted eval --follow writes the checkpoints that it has tested
$ sh $SRC/test/cli/tiny.sh; atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 10000000 --eval-freq 100 --train-dir d -q >/dev/null 2>&1 & r=$!; while [ ! -e d/step_00000200.h5 ] && kill -0 $r; do sleep 0.02; done; atomo-train eval --threads 1 --train-dir d --follow -f json -o o.json 2>notes & e=$!; while ! grep -q 'step 200:' notes && kill -0 $e; do sleep 0.02; done; kill -TERM $e; wait $e; code=$?; kill -TERM $r; wait $r; cat notes >&2; grep -c '"step": [12]00,' o.json; exit $code
> 2
2> note: step 200: test loss *
2> atomo-train: d: stopped
= 130

# a folder that a running training uses is refused to a second run
$ sh $SRC/test/cli/tiny.sh; atomo-train run --threads 1 --network softmax --dataset mnist --train-dir d -q --max-steps 10000000 >/dev/null 2>&1 & r=$!; while [ ! -e d/step_00000200.h5 ] && kill -0 $r; do sleep 0.02; done; atomo-train run --threads 1 --network softmax --dataset mnist --train-dir d -q --max-steps 1; code=$?; kill -TERM $r; wait $r; exit $code
2> atomo-train: d: another run is at work there
= 1

# a full disk while a checkpoint is written: one line of error; the checkpoint before it can be resumed, and no unfinished file is left
$ sh $SRC/test/cli/tiny.sh; go() { atomo-train run --threads 1 --network softmax --dataset mnist --eval-freq 4 --train-dir $1 -o $1.csv -q --max-steps $2 $3; }; go a 12; go b 4; rm b.csv; (ulimit -f 64; go b 12 --resume); code=$?; ls -A b; go b 12 --resume 2>/dev/null; cmp a/step_00000012.h5 b/step_00000012.h5 && echo same; exit $code
> step_00000004.h5
> same
2> atomo-train: b/step_00000008.h5: cannot write weights/linear.weight: File too large
2> hint: the same command with --resume continues; records so far: b.csv.part
- .step*
= 1

# ... while FILE.part is written, whose last line may be incomplete
$ sh $SRC/test/cli/tiny.sh; go() { atomo-train run --threads 1 --network softmax --dataset mnist --eval-freq 2 --train-dir $1 -o $1.csv -q --max-steps 40 $2; }; go a; mkdir b; cp a/step_00000002.h5 b; (ulimit -f 4; go c); code=$?; (ulimit -f 200; go b --resume 2>/dev/null); for f in a b; do cut -d, -f 1-10,17 $f.csv | tail -n 39 >$f.cut; done; cut -d, -f 1-7 a.cut >a.x; cut -d, -f 1-7 b.cut >b.x; cmp a.x b.x && echo same; exit $code
> same
2> atomo-train: c*: cannot write*: File too large
= 1

# ... while a gradient is saved, and while saved gradients are joined to one file
$ sh $SRC/test/cli/tiny.sh; go() { atomo-train run --threads 1 --network softmax --dataset mnist --eval-freq 4 --train-dir $1 --dump-gradients $1.h5 --dump-freq 2 -q -f csv --max-steps $2 $3 >/dev/null; }; go a 24; (ulimit -f 200; go b 24); code=$?; ls b.h5 2>/dev/null; ls b.h5.parts | wc -l; go b 24 --resume; cmp a.h5 b.h5 && echo same; (ulimit -f 16; go c 24) && echo no; ls -A c.h5* 2>/dev/null; exit $code
> 12
> same
2> atomo-train: b.h5: cannot write step_0000*linear*: File too large
2> hint: b.h5.parts has each saved step as a dump of its own
2> atomo-train: c.h5.parts/step_00000001.h5: cannot write step_000001/linear.weight: File too large
- no
- c.h5
= 1

# --seeds N: the records of N runs with --seed, --seed + 1, ...; stopped and resumed they are the same
$ sh $SRC/test/cli/tiny.sh; r="atomo-train run --network softmax --dataset mnist --max-steps 60 --eval-freq 20 -c none -c qsgd:bits=2 --batch-size 20 -q"; $r --seed 4 --seeds 2 -o a.csv; for s in 4 5; do $r --seed $s -o $s.csv; done; cut -d, -f 1-10,17,18 a.csv | sort >a; cat 4.csv 5.csv | cut -d, -f 1-10,17,18 | sort -u >b; sed -i '/^record/d' a b; cmp a b && wc -l <a; $r --seed 4 --seeds 2 --train-dir d -o b.csv 2>/dev/null & until [ "$(grep -cs '' b.csv.part)" -ge 140 ] || ! kill -0 $!; do sleep 0.002; done 2>/dev/null; kill -TERM $! 2>/dev/null; wait $!; $r --seed 4 --seeds 2 --train-dir d --resume -o b.csv 2>/dev/null; cut -d, -f 1-10,17,18 b.csv | sort | sed '/^record/d' | cmp - a && ls d/none; $r --seeds 2 -c none --dump-gradients g.h5
> 244
> seed-4
> seed-5
2> atomo-train: --dump-gradients: 2 codecs; want one
= 2

# a network that does not fit into memory ends with a line, not a crash
$ for u in 480000 600000 800000; do (ulimit -v $u; atomo-train run --network resnet20 --dataset colour-digits --max-steps 1 --batch-size 8 -c none -q >out 2>&1); [ $? -le 1 ] && echo ended; done
> ended
> ended
> ended
= 0
