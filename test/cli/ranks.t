# P ranks write the records, checkpoints and saved gradients of P simulated workers
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; for run in '1 allgather' '2 ps' '4 allgather'; do p=${run% *} t=${run#* }; a=a$p$t b=b$p$t; go() { d=$1; shift; "$@" --max-steps 20 --topology $t --train-dir $d -o $d.csv --dump-gradients $d.h5 --dump-freq 9 --dump-workers; cut_times $d; }; go $a $TRAIN --workers $p; n=$p; [ $t = ps ] && n=$((p + 1)); go $b $LAUNCH -n $n $TRAIN; for s in 10 20; do cmp $a/step_000000$s.h5 $b/step_000000$s.h5; done; cmp $a.cut $b.cut; cmp $a.h5 $b.h5; echo $p $t done; done; ls -A | grep journal
> 1 allgather done
> 2 ps done
> 4 allgather done
- *differ*
- *No such file*
- *journal
2>
= 1

# ranks may have several workers each, or none
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; go() { d=$1; shift; "$@" --max-steps 10 --workers 3 --train-dir $d >/dev/null; }; go a $TRAIN; go b $LAUNCH -n 2 $TRAIN; go c $LAUNCH -n 5 $TRAIN; cmp a/step_00000010.h5 b/step_00000010.h5 && cmp b/step_00000010.h5 c/step_00000010.h5 && echo same
> same
2> note: 2 of 5 ranks have no worker: there are 3 workers
= 0

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
$ python3 $SRC/test/net/kills.py $(dirname $(command -v atomo-train)) 2
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

# gpt on ranks writes the checkpoints of one process: residuals, rounds, sums in segments, a server, means over senders
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; yes 'to be or not to be, that is the question' | head -n 40 >play.txt; G='atomo-train run --network gpt:layers=1,heads=2,width=16,context=32 --dataset text --data-dir play.txt --batch-size 6 --threads 1 --optimizer adamw --clip-norm 0.5 --max-steps 4 --eval-freq 2 -q'; same() { t=$1 n=$2; shift 2; rm -rf a b; $G "$@" --topology $t --workers 3 --train-dir a >/dev/null; $LAUNCH -n $n $G "$@" --topology $t --workers 3 --train-dir b >/dev/null; for s in 2 4; do cmp a/step_0000000$s.h5 b/step_0000000$s.h5 || return; done; echo $t same; }; same ring 3 -c intsgd; same tree 3 -c powersgd; same ps 3 -c qsgd; D=ef:decay=0.9+chunktopk:transform=dct; same allgather 2 --average senders -c $D; same ps 3 --average senders --local-steps 2 -c $D,values=2bit
> ring same
> tree same
> ps same
> allgather same
> ps same
2>
= 0

# with overlap and buckets, ranks write the checkpoints of one process
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; yes 'to be or not to be, that is the question' | head -n 40 >play.txt; G='atomo-train run --network gpt:layers=1,heads=2,width=16,context=32 --dataset text --data-dir play.txt --batch-size 6 --threads 1 --max-steps 4 --eval-freq 2'; same() { t=$1 n=$2; shift 2; rm -rf a b; $G -q "$@" --topology $t --workers 3 --train-dir a >/dev/null; $LAUNCH -n $n $G "$@" --topology $t --workers 3 --train-dir b --overlap on --bucket-bytes 3000 >/dev/null; for s in 2 4; do cmp a/step_0000000$s.h5 b/step_0000000$s.h5 || return; done; echo $t same; }; same allgather 2 -c ef+topk:ratio=0.05; same tree 3 -c powersgd; same ps 4 -c qsgd; same allgather 2 -c joint
> allgather same
> tree same
> ps same
> allgather same
2> note: joint: --overlap sends nothing before the backward pass ends: the codec divides bits between all tensors
= 0

# overlap and buckets need several ranks
$ atomo-train run --overlap on; atomo-train run --bucket-bytes 1000
2> atomo-train: --overlap: want several ranks: mpirun -n P atomo-train run
2> atomo-train: --bucket-bytes: want several ranks: mpirun -n P atomo-train run
= 2

# mpirun --timeout ends a run of which one rank is stopped, also this rank; the run goes on from its last checkpoint
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; LAUNCH='mpirun --allow-run-as-root --oversubscribe --timeout 15'; start 2 $TRAIN --max-steps 1000000 --train-dir b -o b.csv 2>err; p=$!; until_saved b; kill -STOP $(cat pid.1); wait $p; [ $? != 0 ] && echo ended; grep -c 'Timeout: 15' err; for r in 0 1; do for i in 1 2 3 4 5 6 7 8 9 10; do kill -0 $(cat pid.$r) 2>/dev/null && sleep 1; done; kill -0 $(cat pid.$r) 2>/dev/null && echo rank $r is alive; done; d=$(ls b | sort | tail -1); d=${d#step_}; n=$(expr ${d%.h5} + 5); for d in a b; do $TRAIN --workers 2 --topology allgather --max-steps $n --train-dir $d -o $d.csv --resume; done; cmp a/step_$(printf %08d $n).h5 b/step_$(printf %08d $n).h5 && echo same weights
> ended
> 1
> same weights
- alive
= 0

# a rank with another seed, option, program or data set is refused by name, with one message; the launcher may also stop the other rank
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; cp $(command -v atomo-train) other; echo >>other; cp -r datasets data2; for f in data2/mnist/*labels*; do printf '\2' | dd of=$f bs=1 seek=9 conv=notrunc 2>/dev/null; done; two() { $LAUNCH -n 1 $TRAIN : -n 1 "$@" >said 2>&1; grep -v ": stopped$" said | grep -c -e '^atomo-train: ' -e '^other: '; grep '^atomo-train: ' said; }; two $TRAIN --seed 2; two $TRAIN --lr 0.02; two ./other ${TRAIN#atomo-train}; two $TRAIN --data-dir data2/mnist; c='-c qsgd:bits=2 -c qsgd:bits=3 -c qsgd:bits=4 -c qsgd:bits=5 -c qsgd:bits=6 -c qsgd:bits=7 -c qsgd:bits=8 -c svd:rank=1'; $LAUNCH -n 1 $TRAIN $c -c sign : -n 1 $TRAIN $c -c topk 2>&1 | grep '^atomo-train: rank'
> atomo-train: rank 1 has --seed 2, but rank 0 has --seed 1
> atomo-train: rank 1 has --lr 0.02, but rank 0 has --lr 0.01
> atomo-train: rank 1 has a program of checksum *, but rank 0 has a program of checksum *
> atomo-train: rank 1 has ... topk, but rank 0 has ... sign
> atomo-train: rank 1 has training images of checksum *, but rank 0 has training images of checksum *
- 2
= 0

# output of ranks has no colours, as mpirun gives them a terminal of its own; --color always gives them
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; export TERM=xterm; esc=$(printf '\033'); for n in 1 2; do $LAUNCH -n $n $TRAIN --max-steps 1 | grep -c "$esc"; done; $LAUNCH -n 2 $TRAIN --max-steps 1 --color always | grep -q "$esc" && echo colours
> 0
> colours
- [1-9]*
= 0

# one process does not go on with the records of ranks, whose topology is another, and says which
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; start 2 $TRAIN --max-steps 100000 --train-dir d -o r.csv 2>err; p=$!; until_saved d; kill -9 $(cat pid.1); wait $p; T="$TRAIN --workers 2 --max-steps 100000 --train-dir d -o r.csv --resume"; $T; touch begun; timeout 60 sh -c "$T --topology allgather & until [ \"\$(find d -name 'step_*.h5' -newer begun)\" ] || ! kill -0 \$!; do sleep 0.02; done; kill -TERM \$!; wait \$!"; echo code $?
> code 130
2> atomo-train: r.csv.journal: was begun with --topology allgather, but this command runs with --topology ps
2> hint: run the command with --topology allgather, or remove *.journal to begin afresh
= 0

# a wrong option is reported once, and ends with the code of one process
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; $LAUNCH -n 3 atomo-train run --nosuch 2>err; echo code $?; grep -c '^atomo-train: run: unknown option --nosuch' err
> code 2
> 1
= 0

# only run trains on several ranks
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ OMPI_COMM_WORLD_SIZE=2 atomo-train tune; OMPI_COMM_WORLD_SIZE=2 atomo-train eval --train-dir x
2> atomo-train: tune: started as one of several processes; only run trains on several ranks
2> atomo-train: eval: started as one of several processes; only run trains on several ranks
= 2

# ranks of one machine share a data set of the user's own, and checkpoints name its file
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
? /usr/bin/python3 -c 'import h5py'
$ . $SRC/test/cli/ranks.sh; /usr/bin/python3 -c 'import h5py, numpy; f = h5py.File("own.h5", "w"); r = numpy.random.default_rng(1); f["x"] = r.normal(size=(200, 1, 6, 6)); f["y"] = r.integers(0, 3, 200)'; R='atomo-train run --threads 1 --network softmax --dataset own.h5 --batch-size 8 --train-dir d -c none -q'; $LAUNCH -n 2 $R --max-steps 4 >/dev/null; ${R%d -c*}e -c none -q --workers 2 --topology allgather --max-steps 4 >/dev/null; cmp d/step_00000004.h5 e/step_00000004.h5 && echo equal; atomo-train eval --train-dir d -q -f csv | cut -d, -f1,3; $R --workers 2 --max-steps 6 --resume >/dev/null && ls d
> equal
> step,compressor
> 4,none
> step_00000004.h5
> step_00000006.h5
2> note: none: records of 4 of the first 4 steps are not in a journal*
= 0

# the first workers to arrive: only with a server and several ranks; a run goes on from its checkpoint
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; A='--num-aggregate 2 --aggregate-by arrival'; $TRAIN --workers 3 $A; $LAUNCH -n 3 $TRAIN $A 2>&1 | grep -c '^atomo-train: --aggregate-by arrival: --topology allgather has no server at which gradients arrive'; $LAUNCH -n 4 $TRAIN $A --topology ps --max-steps 10 --train-dir d >/dev/null; $LAUNCH -n 4 $TRAIN $A --topology ps --max-steps 20 --train-dir d --resume | tail -1; ls d
> 1
> summary *
> step_00000010.h5
> step_00000020.h5
2> atomo-train: --aggregate-by arrival: one process has no server at which gradients arrive
2> hint: mpirun -n P+1 atomo-train run --topology ps trains P workers with a server
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

# a run on ranks has the time of each step beside the prediction, and their medians, also after --resume; tested steps have no time
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; $LAUNCH -n 2 $TRAIN --train-dir d -o 1.csv --max-steps 20; start 2 $TRAIN --max-steps 1000000 --train-dir e -o 2.csv 2>err; p=$!; until_saved e; kill -TERM $(cat pid.1); wait $p; $LAUNCH -n 2 $TRAIN --train-dir e -o 2.csv --resume --max-steps $(further e); printf '%b' 'import csv, statistics as s\nfor n in "12":\n    r = list(csv.DictReader(open(n + ".csv")))\n    f = lambda x, *names: sum(float(x[k]) for k in names)\n    steps, all = r[:-1], r[-1]\n    t = [x for x in steps if x["measured_ms"]]\n    print(n + ":", max(abs(f(x, "predicted_ms") - f(x, "compute_ms", "encode_ms", "link_ms", "decode_ms")) for x in steps) < 1e-9, [int(x["step"]) for x in steps if not x["measured_ms"]], abs(s.median(f(x, "measured_ms") for x in t) - f(all, "measured_ms")) + abs(s.median(f(x, "predicted_ms") for x in t) - f(all, "predicted_ms")) < 1e-9, abs(f(all, "predicted_ms") / f(all, "measured_ms") - f(all, "predicted_ratio")) < 1e-9 and max(abs(1e3 * (f(b, "wall_seconds") - f(a, "wall_seconds")) - f(b, "measured_ms")) for a, b in zip(steps, steps[1:]) if b["measured_ms"]) < 1e-6)\n' >check.py; python3 check.py; atomo-bench plot iteration-time 1.csv -o i.svg -q && grep -c measured i.plot.csv
> 1: True ?1, 10, 11, 20? True True
> 2: True ?1, 10, 11, * True True
> 1
= 0

# link finds the rate and the delay of the link between two made-up hosts; a busy machine may make it slower, not faster
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
? ${PUBLIC%/public}/two_hosts 1e9 0 true # needs network namespaces and /dev/net/tun
$ . $SRC/test/cli/ranks.sh; on_two_hosts 2e7 0.02 atomo-bench link --sizes 64,1024,262144 --repeats 3 -q -o link.json; python3 -c 'import json; r = json.load(open("link.json"))["results"]; f = r[0]; print(18 < f["alpha_ms"] < 60, 0.0005 < f["beta_gbps"] < 0.0026); print(all(t["measured_ms"] > 19.9 + t["bytes"] / 2.5e3 for t in r if t["exchange"] == "ping-pong" and t["record"] == "time"))'
> True True
> True
= 0

# link needs two processes, and sizes that differ
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; atomo-bench link; atomo-bench link --sizes x; $LAUNCH -n 1 atomo-bench link 2>&1 | grep -e '^atomo' -e '^hint'; $LAUNCH -n 2 atomo-bench link --sizes 64 2>&1 | grep -e '^atomo' -e '^hint'; $LAUNCH -n 2 atomo-bench link --nosuch 2>&1 | grep -c '^atomo-bench: link: unknown option --nosuch'; atomo-bench link --help | head -1; atomo-bench cost g.h5 --link none.json
> atomo-bench: link: one process has no link: want two or more
> hint: mpirun -n 2 atomo-bench link -o link.json*
> atomo-bench: --sizes 64: want two or more sizes
> 1
> usage: atomo-bench link *
2> atomo-bench: link: one process has no link: want two or more
2> hint: mpirun -n 2 atomo-bench link -o link.json*
2> atomo-bench: link: one process has no link: want two or more
2> hint: mpirun -n 2 atomo-bench link -o link.json*
2> atomo-bench: link none.json: *
2> hint: mpirun -n 2 atomo-bench link -o none.json measures a link and writes such a file
= 1

# a build without MPI has no link to measure
? ! atomo-train --version | grep -q '^mpi .*MPI' # this one is built with MPI
$ atomo-bench link
2> atomo-bench: link: built without MPI
2> hint: `make deps-mpi`, then `make`, builds it with MPI
= 2

# a build without MPI does not train once in each process
? ! atomo-train --version | grep -q '^mpi .*MPI' # this one is built with MPI
$ OMPI_COMM_WORLD_SIZE=2 atomo-train run; PMI_SIZE=2 atomo-train run; PMIX_RANK=1 atomo-train run
2> atomo-train: started as one of several processes, but built without MPI: each would work alone
2> hint: `make deps-mpi`, then `make`, builds it with MPI; --workers simulates workers without
= 2

# srun without MPI starts processes that do not know each other
$ for p in 0 1; do SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=$p atomo-train run --network softmax --max-steps 1 -f csv 2>&1 | grep -c 'each trains alone'; done; true
> 1
> 0

# the variables of a launcher that started one process change nothing
$ OMPI_COMM_WORLD_SIZE=1 atomo-train run --network softmax --max-steps 1 -f csv -q
> summary,none,1,*
2>
= 0
