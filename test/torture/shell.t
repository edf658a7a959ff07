# the demo compares the usual codecs, and names what to do next; its options are those of compare: no progress, or all
# settings; when it is stopped only compare says so
? command -v python3
$ mkdir -p a/b/bin datasets; cp "$(command -v atomo-bench)" a/b/bin; python3 $SRC/test/small.py a/b/bin $SRC/datasets/lenet-mnist.h5 datasets/lenet-mnist.h5; a/b/bin/atomo-bench demo -v -q 2>e; grep -c 'finished: qsgd:bits=1 on' e; sh $SRC/test/cli/stop.sh TERM atomo-bench demo -q >o; code=$?; cat o; exit $code
> $ atomo-bench compare *lenet-mnist.h5 -v -q
> $ atomo-bench compare *lenet-mnist.h5 -q
> qsgd:bits=4 *
> next: *
> [1-9]*
2> atomo-bench: *lenet-mnist.h5: stopped *
- *demo: *
= 130
