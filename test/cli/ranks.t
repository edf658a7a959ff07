# P ranks write the records, checkpoints and saved gradients of P simulated workers
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; for run in '1 allgather' '2 ps' '4 allgather'; do p=${run% *} t=${run#* }; a=a$p$t b=b$p$t; go() { d=$1; shift; "$@" --max-steps 20 --topology $t --train-dir $d -o $d.csv --dump-gradients $d.h5 --dump-freq 9 --dump-workers; cut_times $d; }; go $a $TRAIN --workers $p; n=$p; [ $t = ps ] && n=$((p + 1)); go $b $LAUNCH -n $n $TRAIN; for s in 10 20; do cmp $a/step_000000$s.h5 $b/step_000000$s.h5; done; cmp $a.cut $b.cut; cmp $a.h5 $b.h5; echo $p $t done; done; ls -A | grep [.]part
> 1 allgather done
> 2 ps done
> 4 allgather done
- *differ*
- *No such file*
- *.part
2>
= 1

# ranks may have several workers each, or none
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; go() { d=$1; shift; "$@" --max-steps 10 --workers 3 --train-dir $d >/dev/null; }; go a $TRAIN; go b $LAUNCH -n 2 $TRAIN; go c $LAUNCH -n 5 $TRAIN; cmp a/step_00000010.h5 b/step_00000010.h5 && cmp b/step_00000010.h5 c/step_00000010.h5 && echo same
> same
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

# a rank with another seed, option, program or data set is refused by name, with one message; the launcher may also stop the other rank
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; cp $(command -v atomo-train) other; echo >>other; cp -r datasets data2; for f in data2/mnist/*labels*; do printf '\2' | dd of=$f bs=1 seek=9 conv=notrunc 2>/dev/null; done; two() { $LAUNCH -n 1 $TRAIN : -n 1 "$@" >said 2>&1; grep -v ": stopped$" said | grep -c -e '^atomo-train: ' -e '^other: '; grep '^atomo-train: ' said; }; two $TRAIN --seed 2; two $TRAIN --lr 0.02; two ./other ${TRAIN#atomo-train}; two $TRAIN --data-dir data2/mnist; c='-c qsgd:bits=2 -c qsgd:bits=3 -c qsgd:bits=4 -c qsgd:bits=5 -c qsgd:bits=6 -c qsgd:bits=7 -c qsgd:bits=8 -c svd:rank=1'; $LAUNCH -n 1 $TRAIN $c -c sign : -n 1 $TRAIN $c -c topk 2>&1 | grep '^atomo-train: rank'
> atomo-train: rank 1 differs from rank 0: --seed (1 there, 2 here)
> atomo-train: rank 1 differs from rank 0: --lr (0.01 there, 0.02 here)
> atomo-train: rank 1 differs from rank 0: the program (* there, * here)
> atomo-train: rank 1 differs from rank 0: -c (...sign* there, ...topk* here)
> atomo-train: rank 1 differs from rank 0: the training images (* there, * here), the test images *
- 2
= 0

# output of ranks has no colours, as mpirun gives them a terminal of its own; --color always gives them
? . $SRC/test/cli/ranks.sh; can_launch # needs mpirun and a build with MPI (make deps-mpi), without sanitizers
$ . $SRC/test/cli/ranks.sh; sh $SRC/test/cli/tiny.sh; export TERM=xterm; esc=$(printf '\033'); for n in 1 2; do $LAUNCH -n $n $TRAIN --max-steps 1 | grep -c "$esc"; done; $LAUNCH -n 2 $TRAIN --max-steps 1 --color always | grep -q "$esc" && echo colours
> 0
> colours
- [1-9]*
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
2> note: none: records of 4 of the first 4 steps are not there*
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
= 0

# the variables of a launcher that started one process change nothing
$ OMPI_COMM_WORLD_SIZE=1 atomo-train run --network softmax --max-steps 1 -f csv -q
> summary,none,1,*
2>
= 0
