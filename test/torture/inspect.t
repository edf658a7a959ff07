# decode refuses beforehand, too
? python3 -c '' && ! nm -D "$(command -v atomo-bench)" | grep -q asan # python3 is there, and the build has no AddressSanitizer
$ python3 $SRC/test/cli/bomb.py t.atomo topk 67108864 1; (ulimit -v 270000; atomo-bench decode t.atomo -q -v --max-output 1G -o b.h5); echo $?; ls
> 1
> t.atomo
- b.h5
2> note: *: memory for the largest tensor and its payload 268.4 MB; the codec's scratch comes on top
2> atomo-bench: t.atomo: *: its 67108864 elements take 0.2684 GB of memory, want at most the * GB that *address space* has free
2> hint: close programs or raise the limit
= 0

# a file is not replaced by one without the singular values that memory does not suffice for
$ atomo-bench synth -o g.h5 --shape 300x200 -q; atomo-bench inspect g.h5 -o i.csv -q; cp i.csv was; (ulimit -v 100000; atomo-bench inspect g.h5 -o i.csv -q); echo $?; cmp i.csv was && ls
> 1
> g.h5
> i.csv
> was
2> atomo-bench: g.h5: *
2> hint: *
= 0
