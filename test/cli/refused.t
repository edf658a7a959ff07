# a folder with checkpoints is refused without --resume or --force, before the first run trains; the refused command leaves no file and no folder
$ sh $SRC/test/cli/tiny.sh; go() { atomo-train run --threads 1 --network softmax --dataset mnist --batch-size 8 --eval-freq 2 --train-dir d -q "$@" >/dev/null; code="$code $?"; }; go --max-steps 4; go --max-steps 6 -o r.csv; ls; go --max-steps 6 --resume 2>/dev/null; ls d; go --max-steps 2 --force; ls d; rm -r d; go -c none -c qsgd --max-steps 4; rm -r d/none; go -c none -c qsgd --max-steps 4; ls d; echo codes$code
> d
> step_00000004.h5
> step_00000006.h5
> step_00000002.h5
> qsgd
> codes 0 2 0 0 0 2
- r.csv*
- none
2> atomo-train: --train-dir d: has checkpoints up to step 4; to continue that run: atomo-train run --threads 1 *--max-steps 6 -o r.csv --resume
2> hint: to begin afresh: atomo-train run --threads 1 *--max-steps 6 -o r.csv --force
2> atomo-train: --train-dir d/qsgd: has checkpoints up to step 4; to continue that run: atomo-train run *--max-steps 4 --resume
= 0

# a --train-dir that cannot be written is seen before the first step
? [ "$(id -u)" = 0 ] && command -v setpriv && setpriv --reuid 65534 --clear-groups test -x "$(command -v atomo-train)"
$ mkdir d; chmod 755 d; chmod 777 .; setpriv --reuid 65534 --clear-groups atomo-train run --network softmax --dataset digits --max-steps 100 --eval-freq 100 --train-dir d -q -o r.csv; code=$?; ls; exit $code
> d
- r.csv*
2> atomo-train: d/step_00000100.h5: cannot write: Permission denied
= 1

# errors of standard output have their reason: a full disk that a long help meets, a closed stream that gets a file
? [ -w /dev/full ]
$ atomo-bench synth --shape 4 -q -o g.h5; atomo-bench compare --help >/dev/full; echo "full $?"; (atomo-bench encode g.h5 -c none -o - >&-); echo "closed $?"
> full 1
> closed 1
2> atomo-bench: standard output: cannot write: No space left on device
2> atomo-bench: standard output: cannot write: Bad file descriptor
= 0

# a run whose saved gradients cannot be written leaves no folder
$ sh $SRC/test/cli/tiny.sh; go() { atomo-train run --threads 1 --network softmax --dataset mnist --max-steps 2 -q "$@" >/dev/null; code="$code $?"; }; mkdir g.h5; go --train-dir d --dump-gradients g.h5; go --train-dir d --dump-gradients no/g.h5; ls; echo codes$code
> datasets
> g.h5
> codes 1 1
2> atomo-train: g.h5: is a directory, want a file
2> atomo-train: no/g.h5: cannot write: No such file or directory
- d
= 0
