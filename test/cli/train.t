# a training run writes a record for each step and a summary; tables show only the steps that were tested
$ sh $SRC/test/cli/tiny.sh; atomo-train run --network softmax --dataset mnist --batch-size 24 --max-steps 20 --eval-freq 10 --threads 2 --workers 3 -c none -c qsgd --target-accuracy 0.01,1
> record *compressor *step *epoch *loss *train acc. *test acc. *sent *
> step * none * 10 * 1 *31.40 kB*
> step * none * 20 * 1 *
> summary * none * 20 * 1 *628.0 kB*
> summary * qsgd * 20 * 1 *
- step * none * 11 *
= 0

# JSON has its schema, meta and fields; the accuracy of steps that were not tested is null
? command -v python3
$ sh $SRC/test/cli/tiny.sh; atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 4 --eval-freq 2 --link wan100m -f json -q | python3 -c 'import json, sys; d = json.load(sys.stdin); r = d["results"]; print(d["schema"], d["meta"]["network"], d["meta"]["link"], d["meta"]["batch_size"]); print([(x["record"], x["step"], x["test_accuracy"] is None, x["bytes_up"]) for x in r]); print(" ".join(r[0])); print(abs(r[0]["comm_ms"] - 40 - 2 * 31400 / 12.5e6 * 1e3) < 1e-9)'
> atomo-run/1 softmax wan100m 128
> [[]('step', 1, True, 31400), ('step', 2, False, 31400), ('step', 3, True, 31400), ('step', 4, False, 31400), ('summary', 4, False, 125600)]
> record compressor step epoch loss train_accuracy test_loss test_accuracy bytes_up bytes_down compute_ms encode_ms comm_ms decode_ms sim_seconds wall_seconds lr seed spec
> True
= 0

# a truncated checkpoint is refused with its name, and the checkpoint before it is used
$ sh $SRC/test/cli/tiny.sh; go() { atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 6 --eval-freq 2 --train-dir d -f csv $1; }; go -q >/dev/null; cp d/step_00000006.h5 whole; head -c 20000 whole >d/step_00000006.h5; go --resume >/dev/null; cmp whole d/step_00000006.h5 && echo same
> same
2> note: d/step_00000006.h5: *trying the checkpoint before it
= 0

# --resume in its four states: at the first start, after a kill, before the first checkpoint, and of a run that has ended; records and weights are those of an undisturbed run, also of a codec that has diverged
? command -v cc && ! nm -D "$(command -v atomo-train)" | grep -q asan # needs cc, and no sanitizer
$ sh $SRC/test/cli/tiny.sh; cc -shared -fPIC -D_GNU_SOURCE -o die.so "$SRC/test/cli/die.c"; go() { atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 8 --eval-freq 4 -q -c qsgd --seeds 2 --target-accuracy 0.01 -o $1.csv --train-dir $1 $2 2>$1.err; code="$code $?"; }; die() { export DIE_AFTER=$1 LD_PRELOAD=$PWD/die.so; }; go a --resume; for n in 4 15 1; do die $n; go b --resume; unset LD_PRELOAD; done; go b; cat b.err; go b --resume; cut -d, -f 1-10,17,18 a.csv >a.cut; cut -d, -f 1-10,17,18 b.csv >b.cut; cmp a.cut b.cut && diff -r a b && echo same; cp b.csv was; go b --resume; cat b.err; cmp b.csv was && ls b.csv*; set -- --network softmax --dataset mnist --max-steps 9 --lr 1e38 -c qsgd -c none --eval-freq 3 -q --threads 1 --train-dir d -o d.csv; die 5; atomo-train run "$@" 2>/dev/null; unset LD_PRELOAD; atomo-train run "$@" --resume; echo codes$code $?
> same
> b.csv
> atomo-train: b.csv.part: has * records of a run that did not end; to continue it: atomo-train run *-o b.csv --train-dir b --resume
> hint: to begin afresh: atomo-train run *-o b.csv --train-dir b --force
> note: b.csv: is complete, so nothing is done; *
> codes 0 137 137 137 2 0 0 1
2> atomo-train: qsgd: *
- *there, so sums*
= 0

# a complete result is not replaced by further steps; another file takes them, and their sums are blank
$ sh $SRC/test/cli/tiny.sh; run() { atomo-train run --threads 1 --network softmax --dataset mnist --eval-freq 2 -q -c none -c qsgd --target-accuracy 0.01 --resume --train-dir d "$@"; code="$code $?"; }; run -o o.csv --max-steps 4 2>/dev/null; cp o.csv whole; run -o o.csv --max-steps 6; cmp o.csv whole && echo same; ls -A . d/none; run -o n.csv --max-steps 6 2>/dev/null; cut -d, -f 1,3,9,15,16,18-20 n.csv; run -o o.csv --max-steps 5 --force; cut -d, -f 1,3,8,17 o.csv; echo codes$code
> same
> codes 0 0 0 0
> step_00000004.h5
> step,5,31400,,,,,
> step,6,31400,,,,,
> summary,6,,,,,,
> summary,6,0.*,
- o.csv.part
2> note: o.csv: is complete, so nothing is done; another -o FILE takes further steps, *
2> note: none: has done 6 steps, more than the 5 of this run
= 0

# a run's settings are those of its records: other ones are refused, and the file stays as it is
? command -v cc && ! nm -D "$(command -v atomo-train)" | grep -q asan # needs cc, and no sanitizer
$ cc -shared -fPIC -D_GNU_SOURCE -o die.so "$SRC/test/cli/die.c"; sh $SRC/test/cli/tiny.sh; set -- atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 8 --eval-freq 4 -q -o r.csv; DIE_AFTER=6 LD_PRELOAD=$PWD/die.so "$@" --train-dir d; cp r.csv.part was; for more in '--lr 0.5' '-c qsgd' '--seeds 2' '--train-dir e'; do "$@" --train-dir d $more --resume; done; cmp r.csv.part was; ls; "$@"; "$@" --force
- e
2> atomo-train: r.csv.part: has records of another run: --lr (0.01 there, 0.5 here)
2> atomo-train: r.csv.part: has records of another run: -c (none:code=fixed there, qsgd:*here)
2> atomo-train: r.csv.part: has records of another run: --seeds (1 there, 2 here)
2> atomo-train: r.csv.part: has records of another run: --train-dir (d there, e here)
2> atomo-train: r.csv.part: has records of another run: --train-dir (d there, none here)
= 0

# a pipe and a device in the place of the result are written to, not read
$ sh $SRC/test/cli/tiny.sh; run() { timeout -s KILL 300 atomo-train run --threads 1 --network softmax --dataset mnist --eval-freq 2 -q --resume --train-dir d "$@"; echo $?; }; mkfifo p; timeout 300 cat p >got & run --max-steps 4 -o p -f csv; wait $!; grep -c ^step got; run --max-steps 6 -o /dev/null; ls
> 0
> 4
- 137
- *.part
2> note: none: records of 4 of the first 4 steps are not there, so sums stay blank
= 0

# what is no checkpoint is noted and left out by eval, and by a run that resumes
$ sh $SRC/test/cli/tiny.sh; go() { atomo-train run --threads 1 --network softmax --dataset mnist --eval-freq 2 -q "$@" >/dev/null; code="$code $?"; }; go --max-steps 4 --train-dir d; cp d/step_00000002.h5 d/step_00000009.h5; ln -s nowhere d/step_00000011.h5; atomo-bench synth -o d/step_00000013.h5 -q >/dev/null; mkfifo d/step_00000012.h5; atomo-train eval --train-dir d -q -o e.csv; code="$code $?"; cut -d, -f 1,2 e.csv; go --max-steps 20 --train-dir d --resume; echo codes$code
> 2,1
> 4,1
> codes 0 1 2
2> note: d/step_00000011.h5: cannot be opened: No such file or directory
2> note: d/step_00000013.h5: is no checkpoint
2> note: d/step_00000012.h5: not a regular file, want a file; trying the checkpoint before it
2> atomo-train: d/step_00000012.h5: not a regular file, which HDF5 needs
= 0

# if --resume finds no checkpoint, the run starts from the beginning and says so
$ sh $SRC/test/cli/tiny.sh; atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 1 --train-dir d --resume -f csv
> step,none,1,*
2> note: d: no checkpoint to resume from: the run starts from the beginning
= 0

# the error of a run that diverges names step and layer; the other codecs are still trained
$ sh $SRC/test/cli/tiny.sh; atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 9 --lr 1e38 -c none -c qsgd -f csv --eval-freq 0 | grep summary
> summary,none,*,,,*
> summary,qsgd,*,,,*
2> note: none: step *: worker 0: layer 0 (linear): * not finite*
= 0

# the gradients saved during training are a dump that other commands read
$ sh $SRC/test/cli/tiny.sh; atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 5 --workers 2 --dump-gradients g.h5 --dump-freq 2 --dump-workers -q >/dev/null; atomo-bench compare g.h5 -c qsgd -t '*weight' -f csv -q --metrics bytes | cut -d, -f 1-4 | head -n 3
> step,worker,tensor,kind
> 1,0,linear.weight,fc
= 0

# checkpoints can be tested after training; damaged checkpoints are named
$ sh $SRC/test/cli/tiny.sh; atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 4 --eval-freq 2 --train-dir d -q -f csv | cut -d, -f 3,7 | grep -v ,$; head -c 9999 d/step_00000004.h5 >x; mv x d/step_00000004.h5; atomo-train eval --threads 1 --train-dir d -f csv -q
> 2,1,none,*
2> atomo-train: d/step_00000004.h5: *
= 1

# tune chooses the step size with the least validation loss
$ sh $SRC/test/cli/tiny.sh; atomo-train tune --threads 1 --network softmax --dataset mnist --max-steps 15 --points 3 --lr-low 0.0001 --lr-high 1e38 -q -f csv
> compressor,lr,steps,train_loss,validation_loss,validation_accuracy,chosen,spec
> none,0.0001,15,*,true,none:code=fixed
> none,*e+*,,,,false,none:code=fixed
= 0

# a note is printed if the best step size is at an end of the grid; not if it is within the grid or the only one
$ sh $SRC/test/cli/tiny.sh; t="atomo-train tune --threads 1 --network softmax --dataset mnist --max-steps 15 -q"; for g in '--points 2 --lr-low 0.0001 --lr-high 1e38' '--points 2 --lr-low 1e-12 --lr-high 0.0001' '--points 3 --lr-low 1e-12 --lr-high 10000' '--points 1'; do $t $g -o o.csv 2>err; cat err; grep -c true o.csv; done
> note: none: the grid's first step size has the least loss; try a lower --lr-low
> 1
> note: none: the grid's last step size has the least loss; try a higher --lr-high
> 1
> 1
> 1
= 0

# muon has tuned step sizes as others do
$ sh $SRC/test/cli/tiny.sh; t="--threads 1 --network cnn --dataset mnist --max-steps 1 -q --optimizer muon"; atomo-train tune $t --points 1 --lr-low 0.25 -o t.csv; atomo-train run $t --lr-from t.csv -f csv | grep -o 'step,none,1,'
> step,none,1,
= 0

# run takes for each codec the step size that tune chose; a codec that was not tuned is named before training begins
$ sh $SRC/test/cli/tiny.sh; t="--threads 1 --network softmax --dataset mnist -q"; printf 'chosen,lr,compressor\nfalse,0.5,none\ntrue,0.25,none\ntrue,0.125,qsgd\n' >hand.csv; atomo-train tune $t --max-steps 5 --points 2 --lr-low 0.0001 --lr-high 1e38 -c sign -o t.json; for f in hand.csv t.json; do atomo-train run $t --max-steps 1 --lr-from $f $(grep -o ',none\|,qsgd\|"sign"' $f | tr -d '",' | sort -u | sed 's/^/-c /') -o o.json; grep -o '"lr":[^,}]*\|"compressor":[^,]*' o.json | uniq; done; atomo-train run $t --max-steps 1 --lr-from hand.csv -c none -c qsgd:bits=2 -o left.csv; code=$?; ls left*; exit $code
> "lr": null
> "compressor": "none"
> "lr": 0.25
> "compressor": "qsgd"
> "lr": 0.125
> "compressor": "sign"
> "lr": 0.0001
- *"lr": 0.01*
2> atomo-train: --lr-from hand.csv: no step size was chosen for qsgd:bits=2
2> hint: name the same -c SPEC to atomo-train tune*
- left*
= 2

# wrong arguments are refused
$ sh $SRC/test/cli/tiny.sh; atomo-train run --network lenett --dataset mnist --max-steps 1
2> atomo-train: network lenett: no such network
2> hint: --network lenet; there are softmax, *resnet*
= 2

# a network for colour images draws its own
$ atomo-train run --network resnet20 --batch-size 2 --max-steps 2 --lr 1e38 -q
2> atomo-train: none: step 2: *(conv1)*not finite*
= 1

# a language model trains on a text of its own or on babble, and its checkpoints are tested; threads change no byte
$ g="--network gpt:layers=1,heads=2,width=16,context=32 --batch-size 4 --workers 2 -c qsgd:bits=4 --max-steps 3 --eval-freq 3"; for t in 1 2; do atomo-train run $g --threads $t --train-dir d$t -f csv -q -o $t.csv; done; cmp d1/step_00000003.h5 d2/step_00000003.h5 && atomo-train eval --train-dir d1 -f csv -q | cut -d, -f 1,3 && awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } $c["record"] == "summary" { print ($c["test_loss"] > 1.3 && $c["test_loss"] < 2.9) }' 1.csv
> step,compressor
> 3,qsgd:bits=4
> 1
= 0

$ yes 'to be or not to be, that is the question' | head -n 40 >play.txt; atomo-train run --network gpt:layers=1,heads=2,width=16,context=32 --dataset text --data-dir play.txt --batch-size 4 --max-steps 2 --threads 1 -f csv -q | cut -d, -f 1,3
> record,step
> step,1
> step,2
> summary,2
= 0

# optimizers: a resumed run has the weights of an uninterrupted one; options that an optimizer does not use are refused
$ yes 'to be or not to be, that is the question' | head -n 40 >play.txt; g="--network gpt:layers=1,heads=2,width=16,context=32 --dataset text --data-dir play.txt --batch-size 4 --workers 2 --clip-norm 0.5 --lr-warmup 2 --lr-cosine 6 --lr-min 1e-4 --weight-decay 0.1 --threads 1 -q -f csv"; for o in adamw signsgd; do atomo-train run $g --optimizer $o --max-steps 6 --eval-freq 0 --train-dir a$o >a$o.csv; atomo-train run $g --optimizer $o --max-steps 3 --eval-freq 0 --train-dir b$o >/dev/null; atomo-train run $g --optimizer $o --max-steps 6 --eval-freq 0 --train-dir b$o --resume >/dev/null; cmp a$o/step_00000006.h5 b$o/step_00000006.h5 && echo same $o; atomo-train eval --train-dir b$o --data-dir play.txt -q -f csv | cut -d, -f 1; done; cmp -s aadamw/step_00000006.h5 asignsgd/step_00000006.h5 || echo different; awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } $1 == "step" { printf "%.4g ", $c["lr"] }' aadamw.csv
> same adamw
> step
> 3
> 6
> same signsgd
> step
> 3
> 6
> different
> 0.003333 0.006667 0.01 0.00855 0.00505 0.00155*
= 0

$ atomo-train run --beta2 0.9; atomo-train run --optimizer signsgd --momentum 0.5; atomo-train run --lr-min 1; atomo-train run --lr-cosine 5 --lr-warmup 5; atomo-train run --optimizer adam
2> atomo-train: --beta2: only --optimizer adamw and muon have it
2> atomo-train: --momentum: signsgd has none
2> atomo-train: --lr-min: want --lr-cosine as well
2> atomo-train: --lr-cosine 5: want more than the 5 of --lr-warmup
2> *adam*
= 2

# mistakes in options are said before the data are read: here there are none
$ run() { atomo-train run --dataset mnist --data-dir nowhere "$@"; }; run --lr-cosine 9 --lr-min 0.02; run --optimizer signsgd --momentum 0.9; run --beta2 0.999; run --muon-scale dion; run --workers 4 --batch-size 3; run --num-aggregate 2; run --topology tree -c topk; run --topology twoshot -c powersgd --owner-feedback on; run --topology ring -c diana+qsgd; run --average senders -c qsgd; run --weights w.h5; atomo-train tune --dataset mnist --data-dir nowhere --lr-cosine 9 --lr-min 0.5; printf 'compressor,lr,chosen\nnone,0.1,true\nqsgd,0.01,true\n' >t.csv; run --lr-from t.csv --lr 0.01; run --lr-from t.csv -c none -c qsgd --lr-cosine 9 --lr-min 0.02; run
2> atomo-train: --lr-min 0.02: above the step size, 0.01, which falls to it
2> atomo-train: --momentum: signsgd has none
2> atomo-train: --beta2: only --optimizer adamw and muon have it
2> atomo-train: --muon-scale: only --optimizer muon has it
2> atomo-train: --batch-size 3: want one or more for each of the 4 workers
2> atomo-train: --num-aggregate 2: want 1 to the 1 workers
2> atomo-train: --topology tree: payloads of topk do not add
2> atomo-train: --owner-feedback on: --topology twoshot quantises no sum of powersgd again
2> atomo-train: --topology ring: diana+qsgd decodes with the senders' states, so its sums are not quantised again
2> hint: --topology allgather takes every codec
2> atomo-train: --average senders: qsgd does not send *
2> atomo-train: w.h5: cannot be opened: No such file or directory
2> atomo-train: --lr-min 0.5: above --lr-low *
2> atomo-train: --lr and --lr-from: want one of them
2> *nowhere*
- *of the 0*
= 1

# a text of one byte is nothing to learn
$ yes '' | head -n 4000 >t.txt; atomo-train run --network gpt:layers=1,heads=2,width=16,context=32 --dataset text --data-dir t.txt --batch-size 4 --max-steps 1
2> atomo-train: *t.txt: one byte, 10, in all of the text: want two or more different ones
= 1

# a mean over senders: other weights than those of a mean over all, the same for one thread and two, resumed; refused where the codec sends every element
$ sh $SRC/test/cli/tiny.sh; g="--network softmax --dataset mnist --batch-size 40 --workers 4 -q -f csv --eval-freq 2 --max-steps 4 -c zstd+ef+topk:ratio=0.05"; atomo-train run $g --train-dir a >/dev/null; atomo-train run $g --average senders --threads 1 --train-dir b >/dev/null; mkdir c; cp b/step_00000002.h5 c; atomo-train run $g --average senders --threads 2 --train-dir c --resume >/dev/null 2>&1; cmp b/step_00000004.h5 c/step_00000004.h5 && echo same; atomo-train run $g --max-steps 6 --train-dir b --resume; for c in qsgd ef+randk ef21+topk joint none induced+topk; do atomo-train run -c $c --average senders --max-steps 1; done
> same
2> atomo-train: b/step_00000004.h5: average is senders there, all here
2> atomo-train: --average senders: qsgd does not send some elements and leave the others out, as topk does
2> atomo-train: --average senders: ef+randk does not send some elements and leave the others out, as topk does
2> atomo-train: --average senders: ef21+topk does not send some elements and leave the others out, as topk does
2> atomo-train: --average senders: joint does not send some elements and leave the others out, as topk does
2> atomo-train: --average senders: none does not send some elements and leave the others out, as topk does
2> atomo-train: --average senders: induced+topk does not send some elements and leave the others out, as topk does
= 2

# --weights: a checkpoint's weights begin another run, which remembers them; a run with other weights may not resume it
$ sh $SRC/test/cli/tiny.sh; g="--network softmax --dataset mnist -q --max-steps 1 --eval-freq 1"; atomo-train run $g --train-dir a >/dev/null; atomo-train run $g --seed 2 --weights a/step_00000001.h5 --train-dir b >/dev/null; atomo-train run $g --seed 2 --train-dir c >/dev/null; cmp -s b/step_00000001.h5 c/step_00000001.h5 || echo other; atomo-train eval --train-dir b -f csv | wc -l; atomo-train run $g --seed 2 --max-steps 2 --weights a/step_00000001.h5 --train-dir b --resume | grep -c summary; atomo-train run $g --seed 2 --max-steps 2 --train-dir b --resume; atomo-train run $g --network cnn --weights a/step_00000001.h5
> other
> 2
> 1
2> atomo-train: b/step_0000000?.h5: initial is * there, 0 here
2> atomo-train: a/step_00000001.h5: no tensor conv1.weight
= 1

# chunktopk's default is the mean over senders, also where a checkpoint says so
$ sh $SRC/test/cli/tiny.sh; g="--network softmax --dataset mnist --batch-size 40 --workers 4 -q --eval-freq 2 --max-steps 4 -c chunktopk:k=4,chunk=16"; for a in auto all senders; do atomo-train run $g --average $a --train-dir $a >/dev/null; done; cmp auto/step_00000004.h5 senders/step_00000004.h5 && echo same; cmp -s auto/step_00000004.h5 all/step_00000004.h5 || echo other; rm auto/step_00000004.h5; atomo-train run $g --train-dir auto --resume >/dev/null 2>&1; cmp auto/step_00000004.h5 senders/step_00000004.h5 && echo same
> same
> other
> same
2>
= 0

# a variance beyond float32 is an error, not the loss of constant outputs
$ atomo-train run --network gpt:layers=1,heads=2,width=16,context=32 --optimizer adamw --batch-size 8 --max-steps 4 --eval-freq 1 --lr 1e6 -q | tail -1
> summary *
2> atomo-train: none: test after step 1: layer norm: the variance of token * is not finite in float32
2> hint: a smaller --lr helps *
= 0

# a packed text is unpacked
$ yes 'to be or not to be, that is the question' | head -n 40 >play.txt; gzip -k play.txt; for f in play.txt play.txt.gz; do atomo-train run --network gpt:layers=1,heads=2,width=16,context=32 --dataset text --data-dir $f --max-steps 2 --batch-size 2 -q -o $f.csv; cut -d, -f1-8 $f.csv >$f.cut; done; cmp play.txt.cut play.txt.gz.cut; gzip -c play.txt | head -c 60 >cut.gz; atomo-train run --network gpt --dataset text --data-dir cut.gz --max-steps 1
2> atomo-train: cut.gz: *
= 1

# local steps: one exchange in 3 steps; a run stopped between two exchanges resumes to the same bits; one step of plain SGD is ordinary training
$ sh $SRC/test/cli/tiny.sh; g="--network softmax --dataset mnist --batch-size 40 --workers 4 --threads 1 -q -f csv --eval-freq 0"; l="--optimizer adamw --lr 1e-3 --local-steps 3 --outer-lr 0.7 --outer-momentum 0.9 -c ef:decay=0.95+topk"; atomo-train run $g $l --max-steps 9 --eval-freq 4 --train-dir a >a.csv; awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } $1 == "step" { printf "%d%d ", ($c["bytes_up"] > 0), ($c["comm_ms"] > 0) }' a.csv; mkdir b; cp a/step_00000004.h5 a/step_00000008.h5 b; atomo-train run $g $l --max-steps 9 --eval-freq 4 --train-dir b --resume >/dev/null 2>&1; cmp a/step_00000009.h5 b/step_00000009.h5 && echo same; rm b/step_00000008.h5 b/step_00000009.h5; atomo-train run $g $l --max-steps 9 --eval-freq 4 --train-dir b --resume >/dev/null 2>&1; cmp a/step_00000009.h5 b/step_00000009.h5 && echo same; for h in "" "--local-steps 1"; do atomo-train run $g --momentum 0 -c qsgd --max-steps 5 $h -f csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } $1 == "summary" { print $c["loss"], $c["test_loss"], $c["bytes_up"] }'; done | uniq -c | awk '{ print $1 }'; atomo-train run $g $l --max-steps 3 -f json | tr '{,' '\n\n' | grep -e local_steps -e '"outer'
> 00 00 11 00 00 11 00 00 11 same
> same
> 2
> *"local_steps": 3*
> *"outer_lr": 0.7*
> *"outer_momentum": 0.9*
= 0

# fragments take turns, and a mean that is applied later hides its time; a run stopped with a mean under way resumes to the same bits; one fragment that is neither late nor mixed is plain local steps
$ sh $SRC/test/cli/tiny.sh; g="--network cnn --dataset mnist --batch-size 40 --workers 4 --threads 1 -q -f csv --optimizer adamw --lr 1e-3 --local-steps 6 --outer-lr 0.4 --outer-momentum 0.9 --max-steps 12 -c ef+minmax"; l="--fragments 3 --overlap-steps 1 --mix 0.5 --link alpha=1ns,beta=1e6Gbit"; at() { awk -F, -v k="$1" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } $1 == "step" { printf "%s", k == "on" ? ($c["bytes_up"] > 0) + ($c["comm_ms"] > 0) : $c["loss"] "," $c["bytes_up"] " " } END { print "" }'; }; atomo-train run $g $l --eval-freq 5 --train-dir a >a.csv; at on <a.csv; mkdir b; cp a/step_00000005.h5 b; atomo-train run $g $l --eval-freq 5 --train-dir b --resume >/dev/null 2>&1; cmp a/step_00000012.h5 b/step_00000012.h5 && echo same; atomo-train run $g --eval-freq 0 | at all >plain; atomo-train run $g --fragments 1 --overlap-steps 0 --mix 0 --eval-freq 0 | at all >one; cmp plain one && echo plain
> 101010101010
> same
> plain
= 0

$ n="atomo-train run --local-steps 6"; atomo-train run --fragments 2; atomo-train run --mix 0.5; $n --fragments 7; $n --fragments 2 --overlap-steps 3; $n --fragments 4 --network cnn --max-steps 6 -q
2> atomo-train: --fragments: want --local-steps as well
2> atomo-train: --mix: want --local-steps as well
2> atomo-train: --fragments 7: want at most the 6 of --local-steps
2> atomo-train: --overlap-steps 3: want fewer than the 3 steps from one fragment's turn to the next's
2> atomo-train: --fragments 4: the network has 3 layers
= 2

$ atomo-train run --within none; atomo-train run --outer-lr 0.7; atomo-train run --outer-momentum 0.9; atomo-train run --local-steps 16 --max-steps 100; atomo-train run --local-steps 16 --max-steps 16 --outer-momentum 1
2> atomo-train: --within: want --topology hier:node=K as well
2> atomo-train: --outer-lr: want --local-steps as well
2> atomo-train: --outer-momentum: want --local-steps as well
2> atomo-train: --max-steps 100: want a multiple of --local-steps 16, so that the last steps are exchanged
2> atomo-train: --outer-momentum 1: want less than 1
= 2

# outputs that would overwrite each other are refused
$ atomo-train run --network softmax -o x.h5 -f csv --dump-gradients ./x.h5; code=$?; ls; exit $code
>
2> atomo-train: run: -o x.h5: is what --dump-gradients writes, want another file
= 2

# a run that saves gradients and is stopped and resumed at any point loses none of them
$ sh $SRC/test/cli/tiny.sh; go() { atomo-train run --threads 1 --network softmax --dataset mnist --eval-freq 5 --train-dir $1 --dump-gradients $1.h5 --dump-freq 3 -q -f csv --max-steps $2 $3 >/dev/null; }; go a 30; go b 10; go b 20 --resume; go b 20 --resume; go b 30 --resume; cmp a.h5 b.h5 && echo same; go b 30 --resume; cmp a.h5 b.h5 && echo unchanged
> same
> unchanged
= 0

# saved gradients of a run with other settings are neither used nor removed
$ sh $SRC/test/cli/tiny.sh; go() { atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 3 -q -f csv "$@" >/dev/null; }; go --lr 0.2 --dump-gradients x.h5; go --train-dir d; mkdir g.h5.parts; cp x.h5 g.h5.parts/step_00000009.h5; mv x.h5 g.h5.parts/step_00000001.h5; go --train-dir d --dump-gradients g.h5 --resume; c=$?; ls g.h5.parts; exit $c
> step_00000009.h5
2> atomo-train: g.h5.parts/step_00000001.h5: lr is 0.2 there, 0.01 here
2> hint: remove g.h5.parts, or name another file
= 2

# a full disk is an error, and the earlier output file is left unchanged
? [ -w /dev/full ]
$ sh $SRC/test/cli/tiny.sh; atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 2 -f csv -q >/dev/full
2> atomo-train: *cannot write*
= 1

# checkpoints of another run are not resumed, and go with --force; what is left of a checkpoint is no hindrance
$ sh $SRC/test/cli/tiny.sh; go() { atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 4 --eval-freq 2 --train-dir d -q -f csv "$@" >/dev/null; code="$code $?"; }; go; head -c 5000 d/step_00000004.h5 >x; mv x d/step_00000004.h5; go --lr 0.5 --resume; go --resume 2>/dev/null; go --lr 0.5 --force; go --lr 0.5 --resume --max-steps 6; ls d; echo codes$code
> step_00000002.h5
> step_00000004.h5
> step_00000006.h5
> codes 0 2 0 0 0
2> atomo-train: d/step_00000002.h5: lr is * there, 0.5 here
2> hint: another run wrote it: give its options, or name another --train-dir
= 0

# a run that diverges keeps the gradients of the steps before
$ sh $SRC/test/cli/tiny.sh; atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 400 --lr 1e38 --dump-gradients g.h5 --dump-freq 1 -q -f csv >/dev/null; code=$?; ls -A; atomo-bench inspect g.h5 --step '*1' -q -f csv | cut -d, -f 1-3; exit $code
> g.h5
> *linear.weight*
- g.h5.parts
= 1

# of several seeds a speed-up is the mean over pairs of runs with one seed, with its standard error
$ printf 'record,compressor,step,sim_seconds,sim_seconds_to_0.9,seed\nsummary,none,9,9,8,1\nsummary,bf16,9,9,4,1\nsummary,none,9,9,9,2\nsummary,bf16,9,9,3,2\nsummary,sign,9,9,4,1\nsummary,sign,9,9,,2\n' >r.csv; atomo-bench report r.csv --speedup -f csv; atomo-bench report r.csv --speedup --baseline BF16:rounding=nearest -f csv | tail -n 3
> compressor,speedup_to_0.9,speedup_to_0.9_se,seeds
> none,1,0,2
> bf16,2.5,0.5,2
> sign,,,2
> none,0.41666666*,0.0833333*,2
> bf16,1,0,2
> sign,,,2
= 0

# a file that is named like a checkpoint but is none is kept
$ sh $SRC/test/cli/tiny.sh; mkdir d; go() { atomo-train run --network softmax --dataset mnist --max-steps 2 --eval-freq 1 --batch-size 8 -q --train-dir d >/dev/null; code="$code $?"; }; echo mine >d/step_00000002.h5; go; cat d/step_00000002.h5; ls d; echo codes$code
> mine
> codes 2
2> atomo-train: --train-dir d: has checkpoints up to step 2; to continue that run: *
- step_00000001.h5
= 0

# --weights: what holds no weights is refused by a line with the file, and a hint of what --weights takes
$ sh $SRC/test/cli/tiny.sh; : >empty.h5; : >empty; mkdir folder; echo text >text.h5; for w in empty.h5 empty folder text.h5 none.h5; do atomo-train run --network softmax --dataset mnist --max-steps 1 -q --weights $w 2>err; echo $?; cat err >&2; [ $(grep -c '^hint: --weights takes a checkpoint, as DIR/step_00000100.h5' err) = 1 ] || echo no hint; done
> 1
- no hint
- 0
2> atomo-train: empty.h5: empty, so not an HDF5, safetensors, .npz or .npy file
2> atomo-train: empty: empty, so not an HDF5, safetensors, .npz or .npy file
2> atomo-train: folder: a directory without HDF5, safetensors, .npz or .npy files
2> atomo-train: text.h5: not an HDF5, safetensors, .npz or .npy file
2> atomo-train: none.h5: cannot be opened: No such file or directory
= 0

# SVHN's MATLAB files are converted once: pixels by row, the digit 10 as 0
? for p in python3 /usr/bin/python3; do $p -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("scipy"))' && exit; done; exit 1 # needs Python with scipy
$ mkdir s; p=python3; $p -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("scipy"))' || p=/usr/bin/python3; t="atomo-train run --dataset svhn --data-dir s --network softmax --max-steps 1 --batch-size 4 -q -f csv"; $p -c 'import numpy as n, os, runpy, sys, scipy.io as s; r = n.random.default_rng(1); m = {t: {"X": r.integers(0, 256, (32, 32, 3, 20), "u1"), "y": n.arange(1, 21, dtype="u1")[:, None] % 10 + 1} for t in ("train", "test")}; [s.savemat(f"s/{t}_32x32.mat", m[t]) for t in m]; os.system(sys.argv[2]); sys.argv = ["svhn.py", "s"]; runpy.run_path(os.environ["SRC"] + "/datasets/svhn.py"); m = m["test"]; b = open("s/test.bin", "rb").read(); print(len(b), all(b[3073 * i] == m["y"][i, 0] % 10 and b[3073 * i + 1 + 1024 * c + 32 * r + k] == m["X"][r, k, c, i] for i in range(20) for c in range(3) for r in range(32) for k in range(32)))' s "$t"; $t | wc -l
> 61460 True
> 3
2> atomo-train: s/train_32x32.mat: a MATLAB file, want train.bin, which is made of it once
2> hint: sh datasets/fetch.sh svhn s
= 0

# two shots and rings that quantise sums again: resumed is undisturbed; another exchange is another run; a worker sends 2 (P - 1)/P of
# a payload
$ sh $SRC/test/cli/tiny.sh; for t in twoshot ring; do go() { atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 6 --eval-freq 2 --workers 4 --batch-size 8 --topology $t --owner-feedback on -c ef+qsgd:code=fixed --train-dir $t -f csv -q "$@"; }; go -o $t.csv; cp $t/step_00000006.h5 whole; rm $t/step_00000006.h5 $t.csv; go --resume >/dev/null; cmp whole $t/step_00000006.h5 && echo same; go --owner-feedback off --resume; done; atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 1 --workers 4 --batch-size 8 --topology twoshot -c qsgd:code=fixed --min-elements 100 -f json -q | python3 -c 'import json, sys; r = json.load(sys.stdin)["results"][0]; s = 7840 * 5 / 8 + 4 * 16 + 4; print(abs(r["bytes_up"] / (2 * 3 / 4 * s + 41) - 1) < .01)'
> same
> same
> True
2> *owner_feedback is on there, off here*
2> *owner_feedback is on there, off here*
= 0

# with hier, and with twoshot, a run resumes to the same bits, and eval tests its checkpoints
$ sh $SRC/test/cli/tiny.sh; for t in twoshot hier:node=2; do go() { atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 4 --eval-freq 2 --workers 4 --batch-size 8 --topology $t --within ef+qsgd:bits=6 --owner-feedback on -c ef+topk:ratio=0.1 --train-dir $t -q "$@" >/dev/null; }; go -o $t.csv; cp $t/step_00000004.h5 whole; rm $t/step_00000004.h5 $t.csv; go --resume; cmp whole $t/step_00000004.h5 && atomo-train eval --threads 1 --train-dir $t -q -f csv | wc -l; done; atomo-train run --workers 4 --topology hier:node=3 --network softmax; atomo-train run --workers 4 --topology hier --network softmax; atomo-train run --workers 4 --topology hier:node=2 -c powersgd --network softmax
> 3
> 3
2> note: ef+topk:ratio=0.1: records of 2 of the first 2 steps are not there*
2> note: ef+topk:ratio=0.1: records of 2 of the first 2 steps are not there*
2> atomo-train: --topology hier:node=3: the 4 workers do not fill nodes
2> atomo-train: --topology: "hier": want one of ps, allgather, ring, tree, twoshot, hier:node=K (did you mean hier:node=K?)
2> atomo-train: --topology hier: powersgd has several rounds, so its sums are not quantised again
2> hint: --topology allgather takes every codec
= 2
