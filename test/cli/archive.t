# a synthetic dump, encoded and decoded without loss
$ atomo-bench synth -o a.h5 --shape 4x3x2x2 --shape 6 --steps 2 --workers 2
> a.h5: 8 normal tensors
= 0
$ atomo-bench synth -o a.h5 --steps 2 --workers 2 && atomo-bench encode a.h5 -c none --group kind -o a.atomo && atomo-bench decode a.atomo -o b.h5 && atomo-bench encode b.h5 -c none --group kind -o b.atomo && cmp a.atomo b.atomo && ls -A
> a.h5: 16 normal tensors
> a.atomo: none, 16 tensors, * -> * payload bytes, ratio 1; * bytes on disk
> b.h5: none, 16 tensors, * payload bytes -> *
> b.atomo: none, 16 tensors, *
> a.atomo
> a.h5
> b.atomo
> b.h5
= 0

# missing or mistyped arguments
$ atomo-bench encode a.h5 -c none
2> atomo-bench: encode: no output file; want -o FILE.atomo
= 2
$ atomo-bench encode a.h5 -o a.atomo
2> atomo-bench: encode: no compressor; want one -c SPEC
= 2
$ atomo-bench synth -o a.h5 >/dev/null; atomo-bench encode a.h5 -c none -t layer0.wieght -o a.atomo
2> atomo-bench: a.h5: no tensor matches "layer0.wieght" (did you mean layer0.weight?)
2> hint: atomo-bench inspect FILE lists the tensors*
= 2
$ atomo-bench synth --shape 3y3 -o a.h5
2> atomo-bench: synth: --shape 3y3: want 1 to 8 axes, as in 64x3x3x3
= 2

$ atomo-bench synth --seed 9223372036854775808 -o a.h5
2> atomo-bench: synth: --seed 9223372036854775808: want 0 to 9223372036854775807
= 2

# files of the wrong kind
$ atomo-bench encode nothing.h5 -c none -o a.atomo
2> atomo-bench: nothing.h5: cannot be opened: No such file or directory
= 1
$ echo text >a.h5; atomo-bench encode a.h5 -c none -o a.atomo
2> atomo-bench: a.h5: not an HDF5 file
= 1
$ atomo-bench synth -o a.h5 >/dev/null; atomo-bench decode a.h5 -o b.h5
2> atomo-bench: a.h5: at byte 0: not a payload container
= 1

# a truncated container is refused, and the earlier result is left as it was
$ atomo-bench synth -o a.h5 >/dev/null; atomo-bench encode a.h5 -c none -o a.atomo >/dev/null; head -c 5000 a.atomo >cut.atomo; echo old >b.h5; atomo-bench decode cut.atomo -o b.h5; cat b.h5; ls -A
> old
> a.atomo
> a.h5
> b.h5
> cut.atomo
- *.tmp
2> atomo-bench: cut.atomo: at byte * the file is cut short*
= 0

# an output that would overwrite the input is refused
$ atomo-bench synth -o a.h5 >/dev/null; ln a.h5 b.h5; cp a.h5 c.h5; atomo-bench encode a.h5 -c none -o b.h5; cmp a.h5 c.h5 && ls -A
2> atomo-bench: encode: -o b.h5: is what is read, want another file
> a.h5
- *.tmp
= 0

# a tensor that cannot be sent is named with its file
? /usr/bin/python3 -c 'import h5py'
$ /usr/bin/python3 -c 'import h5py; f = h5py.File("a.h5", "w"); f["x"] = [1.0, float("nan")]; f["y"] = [3e38] * 9'; atomo-bench encode a.h5 -c none -o a.atomo; atomo-bench compare a.h5 -c none; atomo-bench encode a.h5 -c qsgd:bucket=0,code=fixed -t y -o a.atomo
2> atomo-bench: a.h5: x: 1 of 2 elements are NaN or Inf as float32, the first is element 1
2> atomo-bench: a.h5: y: qsgd: the norm of bucket 0 is beyond float32
- *a.h5: a.h5*
= 1

# a full disk
$ (ulimit -f 20; atomo-bench synth -o a.h5); ls -A
>
2> atomo-bench: a.h5: cannot write step_000001/layer*: File too large
= 0
