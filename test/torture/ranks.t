# a rank that is killed ends the others; the run goes on with fewer or more ranks, to the same weights
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; B="$TRAIN --workers 3 --train-dir b -o b.csv --resume"; lose() { start $1 $B --max-steps 1000000 2>err; p=$!; until_saved b; from=$(date +%s); kill -9 $(cat pid.1); wait $p && echo not ended; for f in pid.*; do while kill -0 $(cat $f) 2>/dev/null; do sleep 0.1; done; done; [ $(($(date +%s) - from)) -le 10 ] && echo $1 ended; grep -c 'exited on signal 9' err; }; lose 3; lose 2; n=$(further b); $LAUNCH -n 4 $B --max-steps $n; $TRAIN --workers 3 --topology allgather --max-steps $n --train-dir a -o a.csv; same_run
> 3 ended
> 2 ended
> 1
- 0
> same weights
> same records
- not ended
= 0

# ranks that are killed at random moments: nothing hangs, no checkpoint is lost, all bytes are those of an undisturbed run
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ python3 $SRC/test/exchange/kills.py $(dirname $(command -v atomo-train)) 2
> 2 kills: all ranks ended within 10 s, mpirun too but ? times; * runs ended with the bytes of an undisturbed run
= 0

# a rank that is stopped stops all, and the run goes on from that step
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; start 2 $TRAIN --max-steps 1000000 --train-dir b -o b.csv 2>err; p=$!; until_saved b; kill -TERM $(cat pid.1); wait $p; echo code $?; grep -c 'stopped after step' err; n=$(further b); $LAUNCH -n 2 $TRAIN --max-steps $n --train-dir b -o b.csv --resume; $TRAIN --workers 2 --topology allgather --max-steps $n --train-dir a -o a.csv; same_run
> code 130
> 1
> same weights
> same records
= 0

# mpirun --timeout ends a run of which one rank is stopped, also this rank; the run goes on from its last checkpoint
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; LAUNCH='mpirun --allow-run-as-root --oversubscribe --timeout 15'; start 2 $TRAIN --max-steps 1000000 --train-dir b -o b.csv 2>err; p=$!; until_saved b; kill -STOP $(cat pid.1); wait $p; [ $? != 0 ] && echo ended; grep -c 'Timeout: 15' err; for r in 0 1; do for i in 1 2 3 4 5 6 7 8 9 10; do kill -0 $(cat pid.$r) 2>/dev/null && sleep 1; done; kill -0 $(cat pid.$r) 2>/dev/null && echo rank $r is alive; done; d=$(ls b | sort | tail -1); d=${d#step_}; n=$(expr ${d%.h5} + 5); for d in a b; do $TRAIN --workers 2 --topology allgather --max-steps $n --train-dir $d -o $d.csv --resume; done; cmp a/step_$(printf %08d $n).h5 b/step_$(printf %08d $n).h5 && echo same weights
> ended
> 1
> same weights
- alive
= 0

# one process does not go on with the records of ranks, whose topology is another, and says which
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; start 2 $TRAIN --max-steps 100000 --train-dir d -o r.csv 2>err; p=$!; until_saved d; kill -9 $(cat pid.1); wait $p; T="$TRAIN --workers 2 --max-steps 100000 --train-dir d -o r.csv --resume"; $T; touch begun; timeout 60 sh -c "$T --topology allgather & until [ \"\$(find d -name 'step_*.h5' -newer begun)\" ] || ! kill -0 \$!; do sleep 0.02; done; kill -TERM \$!; wait \$!"; echo code $?
> code 130
2> atomo-train: r.csv.part: has records of another run: --topology (allgather there, ps here)
2> hint: give the options of that run, or begin afresh: atomo-train run *--force
= 0

# a run on ranks has the time of each step beside the prediction, and their medians, also after --resume; tested steps have no time
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; $LAUNCH -n 2 $TRAIN --train-dir d -o 1.csv --max-steps 20; start 2 $TRAIN --max-steps 1000000 --train-dir e -o 2.csv 2>err; p=$!; until_saved e; kill -TERM $(cat pid.1); wait $p; $LAUNCH -n 2 $TRAIN --train-dir e -o 2.csv --resume --max-steps $(further e); printf '%b' 'import csv, statistics as s\nfor n in "12":\n    r = list(csv.DictReader(open(n + ".csv")))\n    f = lambda x, *names: sum(float(x[k]) for k in names)\n    steps, all = r[:-1], r[-1]\n    t = [x for x in steps if x["measured_ms"]]\n    print(n + ":", max(abs(f(x, "predicted_ms") - f(x, "compute_ms", "encode_ms", "link_ms", "decode_ms")) for x in steps) < 1e-9, [int(x["step"]) for x in steps if not x["measured_ms"]], abs(s.median(f(x, "measured_ms") for x in t) - f(all, "measured_ms")) + abs(s.median(f(x, "predicted_ms") for x in t) - f(all, "predicted_ms")) < 1e-9, abs(f(all, "predicted_ms") / f(all, "measured_ms") - f(all, "predicted_ratio")) < 1e-9 and max(abs(1e3 * (f(b, "wall_seconds") - f(a, "wall_seconds")) - f(b, "measured_ms")) for a, b in zip(steps, steps[1:]) if b["measured_ms"]) < 1e-6)\n' >check.py; python3 check.py; atomo-bench plot iteration-time 1.csv -o i.svg -q && grep -c measured i.plot.csv
> 1: True ?1, 10, 11, 20? True True
> 2: True ?1, 10, 11, * True True
> 1
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
