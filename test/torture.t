# a stopped run prints how to continue
$ atomo-bench synth -o g.h5 --shape 10 --shape 2000x640 -q; atomo-bench compare g.h5 -c none -c svd:method=gesdd --repeats 1000 -o r.csv & until grep -qs layer0 r.csv.part || ! kill -0 $!; do sleep 0.01; done; kill -TERM $!; wait $!; echo $?; ls
> 130
> r.csv.part
- r.csv
2> atomo-bench: g.h5: stopped with * of 6 records finished
2> hint: the same command with --resume continues from r.csv.part
= 0

# a named pipe is read to its end, and written, where the other end comes a little later or earlier; HDF5 goes into none
$ mkfifo p; atomo-bench synth -o g.h5 --shape 30 -q; atomo-bench compare g.h5 -c none --repeats 1 -q -o r.csv; for i in 1 2 3 4 5; do cat r.csv >p & atomo-bench report p -f csv -o r$i.csv -q; wait $!; echo "cat $?"; done; { sleep 0.3; cat r.csv >p; } & atomo-bench report p -f csv -o late.csv -q; wait $!; sort -u r?.csv late.csv | cmp - "$(sort r1.csv >s; echo s)" && echo read; { sleep 0.3; cat p >l; } & atomo-bench list -o p; wait $!; atomo-bench list | cmp - l && echo written; atomo-bench synth -o p --shape 3
> read
> written
- cat 1*
2> atomo-bench: p: not a regular file, which HDF5 needs
= 2

# SIGINT that is ignored at the start, as a shell does for "&", stays ignored; where it is not, it stops the program, which waits for a reader
? env --default-signal=INT true # needs GNU env
$ mkfifo p; atomo-bench synth -o g.h5 --shape 30 -q; for s in ignored caught; do case $s in ignored) set -- env --ignore-signal=INT ;; *) set -- env --default-signal=INT ;; esac; "$@" atomo-bench compare g.h5 -c qsgd --repeats 2 -q -f csv -o p 2>/dev/null & pid=$!; sh "$SRC"/test/cli/catches.sh $pid; kill -INT $pid; [ $s = caught ] || cat p >csv & wait $pid; echo "$s $?"; done; : 3<>p; wait; grep -c qsgd csv
> ignored 0
> caught 130
> 2
= 0

# eval --follow waits for a run that has not begun, tests each new checkpoint once, and ends with the run
$ sh $SRC/test/cli/tiny.sh; atomo-train eval --threads 1 --train-dir d --follow -q -f csv >o.csv & e=$!; sh $SRC/test/cli/catches.sh $e; atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 600 --eval-freq 100 --train-dir d -q >/dev/null; wait $e; code=$?; cut -d, -f 1 o.csv | tr '\n' ' '; exit $code
> step 100 200 300 400 500 600 *
2>
= 0

# eval --follow prints what it waits for
$ mkdir d d/none; for d in nowhere d; do atomo-train eval --threads 1 --train-dir $d --follow -f csv >/dev/null 2>$d.notes & e=$!; while ! grep -q waiting $d.notes && kill -0 $e; do sleep 0.02; done; kill -TERM $e; wait $e; code=$?; cat $d.notes >&2; done; exit $code
2> note: nowhere: no checkpoint there yet; waiting for a run (a run of several codecs has a folder for each*
2> note: d: no checkpoint there yet; waiting for a run*
= 130

# an interrupted eval --follow writes the checkpoints that it has tested
$ sh $SRC/test/cli/tiny.sh; atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 10000000 --eval-freq 100 --train-dir d -q >/dev/null 2>&1 & r=$!; while [ ! -e d/step_00000200.h5 ] && kill -0 $r; do sleep 0.02; done; atomo-train eval --threads 1 --train-dir d --follow -f json -o o.json 2>notes & e=$!; while ! grep -q 'step 200:' notes && kill -0 $e; do sleep 0.02; done; kill -TERM $e; wait $e; code=$?; kill -TERM $r; wait $r; cat notes >&2; grep -c '"step": [12]00,' o.json; exit $code
> 2
2> note: step 200: test loss *
2> atomo-train: d: stopped
= 130

# a folder that a running training uses is refused to a second run
$ sh $SRC/test/cli/tiny.sh; atomo-train run --threads 1 --network softmax --dataset mnist --train-dir d -q --max-steps 10000000 >/dev/null 2>&1 & r=$!; while [ ! -e d/step_00000200.h5 ] && kill -0 $r; do sleep 0.02; done; atomo-train run --threads 1 --network softmax --dataset mnist --train-dir d -q --max-steps 1000 --resume; code=$?; kill -TERM $r; wait $r; exit $code
2> atomo-train: d: another run is at work there
= 1

# one process does not go on with the records of ranks, whose topology is another, and says which
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; start 2 $TRAIN --max-steps 100000 --train-dir d -o r.csv 2>err; p=$!; until_saved d; kill -9 $(cat pid.1); wait $p; T="$TRAIN --workers 2 --max-steps 100000 --train-dir d -o r.csv --resume"; $T; touch begun; timeout 60 sh -c "$T --topology allgather & until [ \"\$(find d -name 'step_*.h5' -newer begun)\" ] || ! kill -0 \$!; do sleep 0.02; done; kill -TERM \$!; wait \$!"; echo code $?
> code 130
2> atomo-train: r.csv.part: has records of another run: --topology (allgather there, ps here)
2> hint: give the options of that run, or begin afresh: atomo-train run *--force
= 0

# a run on ranks has the time of each step beside the prediction, and their medians, also after --resume; tested steps have no time
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; $LAUNCH -n 2 $TRAIN --train-dir d -o 1.csv --max-steps 20; start 2 $TRAIN --max-steps 1000000 --train-dir e -o 2.csv 2>err; p=$!; until_saved e; kill -TERM $(cat pid.1); wait $p; $LAUNCH -n 2 $TRAIN --train-dir e -o 2.csv --resume --max-steps $(further e); printf '%b' 'import csv, statistics as s\nfor n in "12":\n    r = list(csv.DictReader(open(n + ".csv")))\n    f = lambda x, *names: sum(float(x[k]) for k in names)\n    steps, all = r[:-1], r[-1]\n    t = [x for x in steps if x["measured_ms"]]\n    print(n + ":", max(abs(f(x, "predicted_ms") - f(x, "compute_ms", "encode_ms", "link_ms", "decode_ms")) for x in steps) < 1e-9, [int(x["step"]) for x in steps if not x["measured_ms"]], abs(s.median(f(x, "measured_ms") for x in t) - f(all, "measured_ms")) + abs(s.median(f(x, "predicted_ms") for x in t) - f(all, "predicted_ms")) < 1e-9, abs(f(all, "predicted_ms") / f(all, "measured_ms") - f(all, "predicted_ratio")) < 1e-9 and max(abs(1e3 * (f(b, "wall_seconds") - f(a, "wall_seconds")) - f(b, "measured_ms")) for a, b in zip(steps, steps[1:]) if b["measured_ms"]) < 1e-6)\n' >check.py; python3 check.py
> 1: True ?1, 10, 11, 20? True True
> 2: True ?1, 10, 11, * True True
= 0

# link measures between two ranks, again if a busy machine spoils the times (it may find no latency); its file is a link for cost and atomo-train, and each time has its prediction
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; for again in 1 2 3 4 5; do $LAUNCH -n 2 atomo-bench link --sizes 64,65536,33554432 --repeats 5 -o link.json -q 2>busy && break; grep -q 'do not grow' busy || break; done; $LAUNCH -n 2 $TRAIN --max-steps 1 --link link.json -o run.csv; atomo-bench synth -o g.h5 --shape 64x32 -q; atomo-bench cost g.h5 --workers 2 --topology allgather --link link.json -q -o cost.json; python3 -c 'import csv, json; f = json.load(open("link.json")); r = f["results"]; a = r[0]; print(f["schema"], f["meta"]["ranks"], [x["exchange"] for x in r if x["record"] == "fit"]); t = [x for x in r if x["record"] == "time"]; print(len(t), all(abs(x["predicted_ms"] / x["measured_ms"] - x["predicted_ratio"]) < 1e-9 for x in t)); p = t[0]; print(abs(a["alpha_ms"] + p["bytes"] / a["beta_gbps"] / 1e6 - p["predicted_ms"]) < 1e-9); c = json.load(open("cost.json"))["results"]; print({x["link"] for x in c}, all(abs(x[k] - a[k]) <= 1e-9 * a[k] for x in c for k in ("alpha_ms", "beta_gbps"))); s = next(csv.DictReader(open("run.csv"))); print(abs(float(s["link_ms"]) / (a["alpha_ms"] + float(s["bytes_up"]) / a["beta_gbps"] / 1e6) - 1) < 1e-9)'
> atomo-link/1 2 *'all', 'ping-pong', 'allgather', 'ring'*
> 9 True
> True
> {'link.json'} True
> True
= 0

# link finds the rate and the delay of the link between two made-up hosts; a busy machine may make it slower, not faster
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
? ${PUBLIC%/public}/two_hosts 1e9 0 true # needs network namespaces and /dev/net/tun
$ . $SRC/test/cli/ranks.sh; on_two_hosts 2e7 0.02 atomo-bench link --sizes 64,1024,262144 --repeats 3 -q -o link.json; python3 -c 'import json; r = json.load(open("link.json"))["results"]; f = r[0]; print(18 < f["alpha_ms"] < 60, 0.0005 < f["beta_gbps"] < 0.0026); print(all(t["measured_ms"] > 19.9 + t["bytes"] / 2.5e3 for t in r if t["exchange"] == "ping-pong" and t["record"] == "time"))'
> True True
> True
= 0
