# the payloads of both rounds count: 64 x 48 at rank 2 takes 2 (64 + 48) floats and two kind bytes, three times as much with three iterations
$ atomo-bench synth -o g.h5 --shape 64x48 --steps 3 -q; atomo-bench compare g.h5 -c powersgd -c powersgd:iters=3 -f csv --metrics bytes,bytes_max
> step,worker,tensor,*
> 1,,layer0.weight,*,powersgd,10,898,898,,1,*
> [*],[*],[*],*,powersgd,10,898,898,*
> [*],[*],[*],*,powersgd:iters=3,10,2694,2694,*
= 0
$ atomo-bench synth -o g.h5 --shape 64x48 --steps 3 -q; atomo-bench encode g.h5 -c powersgd -o g.atomo && atomo-bench decode g.atomo -o d.h5
> g.atomo: powersgd, 3 tensors, 36864 -> 2694 payload bytes, *
> d.h5: powersgd, 3 tensors, 2694 payload bytes -> 36864
= 0
$ atomo-bench list powersgd
> *linear, mergeable, stateful
> rank *whole *yes *
= 0
