# a run: a record to each step and a summary; tables show what was tested
$ atomo-train run --network softmax --max-steps 20 --eval-freq 10 --workers 3 -c none -c qsgd --target-accuracy 0.05,1
> record *compressor *step *epoch *loss *train acc. *test acc. *bytes up *
> step * none * 10 * 1 *31.40 kB*
> step * none * 20 * 1 *
> summary * none * 20 * 1 *628.0 kB*
> summary * qsgd * 20 * 1 *
- step * none * 11 *
= 0

# JSON with its schema, meta and fields; what was not tested is null
? command -v python3
$ atomo-train run --network softmax --max-steps 4 --eval-freq 2 --link wan100m -f json -q | python3 -c 'import json, sys; d = json.load(sys.stdin); r = d["results"]; print(d["schema"], d["meta"]["network"], d["meta"]["link"], d["meta"]["batch_size"]); print([(x["record"], x["step"], x["test_accuracy"] is None, x["bytes_up"]) for x in r]); print(" ".join(r[0])); print(abs(r[0]["comm_ms"] - 40 - 2 * 31400 / 12.5e6 * 1e3) < 1e-9)'
> atomo-run/1 softmax wan100m 128
> [[]('step', 1, True, 31400), ('step', 2, False, 31400), ('step', 3, True, 31400), ('step', 4, False, 31400), ('summary', 4, False, 125600)]
> record compressor step epoch loss train_accuracy test_accuracy bytes_up bytes_down compute_ms encode_ms comm_ms decode_ms sim_seconds wall_seconds lr
> True
= 0

# killed at any moment and resumed: the checkpoints and records of a run never stopped
$ go() { atomo-train run --network softmax --max-steps 40 --eval-freq 5 --test-batch-size 5000 --workers 2 -c ef+topk:ratio=0.01 -q --train-dir $1 -o $1.csv $2; }; go a; (go b & echo $! >pid; wait) 2>/dev/null & while ! ls b/step_00000010.h5 >/dev/null 2>&1; do sleep 0.02; done; pkill -9 -P "$(cat pid)" 2>/dev/null; kill -9 "$(cat pid)" 2>/dev/null; wait; go b --resume; cmp a/step_00000040.h5 b/step_00000040.h5 && echo same weights; for f in a b; do cut -d, -f 1-9,16 $f.csv >$f.cut; done; cmp a.cut b.cut && echo same records; ls b.csv.journal 2>/dev/null; wc -l <b.csv
> same weights
> same records
> 42
= 0

# a checkpoint cut short is refused by name, and the one before it used
$ go() { atomo-train run --network softmax --max-steps 6 --eval-freq 2 --train-dir d -f csv $1; }; go -q >/dev/null; cp d/step_00000006.h5 whole; head -c 20000 whole >d/step_00000006.h5; go --resume >/dev/null; cmp whole d/step_00000006.h5 && echo same
> same
2> note: d/step_00000006.h5: *the one before is tried
= 0

# nothing to resume from: it begins afresh and says so
$ atomo-train run --network softmax --max-steps 1 --train-dir d --resume -f csv
> step,none,1,*
2> note: d: no checkpoint to go on from: the run begins afresh
= 0

# interrupted: what is finished is there, and --resume goes on
$ atomo-train run --network softmax --max-steps 100000 --eval-freq 200 --train-dir d -f csv -q >o.csv & p=$!; while [ -d /proc/$p ] && ! ls d/step_00000200.h5 >/dev/null 2>&1; do sleep 0.05; done; kill -INT $p; wait $p; code=$?; last=$(tail -n 1 o.csv | cut -d, -f 3); ls d | tail -n 1 | grep "step_0*$last.h5" >/dev/null && echo it is the last record; exit $code
> it is the last record
2> atomo-train: stopped after step * of 100000
= 130

# a run that diverges names step and layer, and costs itself alone
$ atomo-train run --network softmax --max-steps 9 --lr 1e38 -c none -c qsgd -f csv --eval-freq 0 | grep summary
> summary,none,*,,,*
> summary,qsgd,*,,,*
2> note: none: step *: worker 0: layer 0 (linear): * not finite*
= 0

$ atomo-train run --network softmax --max-steps 9 --lr 1e38 -q
2> atomo-train: none: step *: worker 0: layer 0 (linear): * not finite*
2> hint: a smaller --lr *
= 1

# gradients saved on the way are a dump
$ atomo-train run --network softmax --max-steps 5 --workers 2 --dump-gradients g.h5 --dump-freq 2 --dump-workers -q >/dev/null; atomo-bench compare g.h5 -c qsgd -t '*weight' -f csv -q --metrics bytes | cut -d, -f 1-4 | head -n 3
> step,worker,tensor,kind
> 1,0,linear.weight,fc
= 0

# checkpoints tested later; damaged ones named
$ atomo-train run --network softmax --max-steps 4 --eval-freq 2 --train-dir d -q -f csv | cut -d, -f 3,7 | grep -v ,$; head -c 9999 d/step_00000004.h5 >x; mv x d/step_00000004.h5; atomo-train eval --train-dir d -f csv -q
> 2,1,none,*
2> atomo-train: d/step_00000004.h5: *
= 1

# the step size with the least validation loss is chosen
$ atomo-train tune --network softmax --max-steps 15 --points 3 --lr-low 0.0001 --lr-high 1e38 -q -f csv
> compressor,lr,steps,train_loss,validation_loss,validation_accuracy,chosen
> none,0.0001,15,*,true
> none,*e+*,,,,false
= 0

# wrong usage
$ atomo-train run --network lenett --max-steps 1
2> atomo-train: network lenett: no such network
2> hint: --network lenet
= 2

$ atomo-train run --resume
2> atomo-train: --resume: want --train-dir*
= 2

$ atomo-train run --batch-size 4 --workers 5 --network softmax
2> atomo-train: --batch-size 4: 5 workers want an image each*
= 2

$ atomo-train run --link lan1 --network softmax
2> atomo-train: link "lan1": no such preset
= 2

$ atomo-train run --network softmax --target-accuracy 0.9,98
2> atomo-train: --target-accuracy 0.9,98: "98": want *
= 2

$ atomo-train run --network softmax --topology ring -c topk
2> atomo-train: --topology ring: payloads of topk do not add
= 2

# a full disk is an error, and what was there stays
? [ -w /dev/full ]
$ atomo-train run --network softmax --max-steps 2 -f csv -q >/dev/full
= 1
