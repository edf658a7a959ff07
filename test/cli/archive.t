# a synthetic dump of gradients is encoded and decoded without loss
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
2> atomo-bench: encode: no codec; want one -c SPEC, or --base OLD
= 2
$ atomo-bench synth -o a.h5 >/dev/null; atomo-bench encode a.h5 -c none -t layer0.wieght -o a.atomo
2> atomo-bench: a.h5: no tensor matches "layer0.wieght" (did you mean layer0.weight?)
2> hint: atomo-bench inspect FILE lists the tensors*
= 2
$ atomo-bench synth --shape 3y3 -o a.h5
2> atomo-bench: synth: --shape 3y3: want 1 to 8 axes and at most 2^60 elements, as in 64x3x3x3
= 2

$ atomo-bench synth --seed 9223372036854775808 -o a.h5
2> atomo-bench: synth: --seed 9223372036854775808: want 0 to 9223372036854775807
= 2

# files of the wrong kind
$ atomo-bench encode nothing.h5 -c none -o a.atomo
2> atomo-bench: nothing.h5: cannot be opened: No such file or directory
= 1
$ echo text >a.h5; atomo-bench encode a.h5 -c none -o a.atomo
2> atomo-bench: a.h5: not an HDF5, safetensors, .npz or .npy file
= 1
$ atomo-bench synth -o a.h5 >/dev/null; atomo-bench decode a.h5 -o b.h5
2> atomo-bench: a.h5: at byte 0: not a payload container
= 1

# a truncated container is refused, and the earlier result is left as it was
$ atomo-bench synth -o a.h5 >/dev/null; atomo-bench encode a.h5 -c none -o a.atomo >/dev/null; head -c 5000 a.atomo >cut.atomo; echo old >b.h5; atomo-bench decode cut.atomo --force -o b.h5; cat b.h5; ls -A
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

# if a tensor cannot be sent, the message names the tensor and the file
? command -v python3
$ python3 "$SRC"/test/cli/tensors.py a.h5 '{"x": [1.0, nan], "y": [3e38] * 9}'; atomo-bench encode a.h5 -c none -o a.atomo; atomo-bench compare a.h5 -c none; atomo-bench encode a.h5 -c qsgd:bucket=0,code=fixed -t y -o a.atomo
2> atomo-bench: a.h5: x: 1 of 2 elements are NaN or Inf as float32, the first is element 1
2> atomo-bench: a.h5: y: qsgd: the norm of bucket 0 is beyond float32
- *a.h5: a.h5*
= 1

# a small file that decodes to a very large one is refused; --max-output allows it
$ atomo-bench synth --shape 1700000 -q -o big.h5 >/dev/null; atomo-bench encode big.h5 -c topk:ratio=1e-6 -q -o s.atomo >/dev/null; rm big.h5; atomo-bench decode s.atomo -q -o b.h5 --max-output 6M; echo $?; atomo-bench decode s.atomo -o b.h5 --max-output 6800000 --memory 1M; echo $?; ls; atomo-bench decode s.atomo -o b.h5 --max-output 6800000
2> hint: --max-output BYTES allows more, if you trust the file
2> atomo-bench: s.atomo: * bytes that decode to more than 6291456
2> atomo-bench: s.atomo: out of memory: * bytes were asked for*
> 1
> s.atomo
> b.h5: topk:ratio=1e-06, 1 tensor, * payload bytes -> 6800000
= 0

# ... also a file whose decoding needs more memory than --memory
$ atomo-bench synth --shape 250007 -q -o g.h5 >/dev/null; atomo-bench encode g.h5 -c dct:ratio=1e-4 -q -o s.atomo >/dev/null; atomo-bench decode s.atomo -o b.h5 --memory 1200K; ls
2> atomo-bench: s.atomo: at byte *: out of memory: * bytes were asked for*
2> hint: --memory BYTES allows more, if you trust the file
- b.h5
= 0

# ... terabytes claimed by many records, and a long transform from a payload of 200 bytes
? python3 -c ''
$ python3 $SRC/test/cli/bomb.py tera.atomo topk 67108864 4000; python3 $SRC/test/cli/bomb.py dct.atomo dct 67108859 1; for f in tera dct; do timeout -s KILL 300 atomo-bench decode $f.atomo -o b.h5; echo $?; done; ls
2> atomo-bench: tera.atomo: at byte *
2> atomo-bench: dct.atomo: * bytes that decode to more than 67*
> 1
- 0
- b.h5
= 0

# a patch needs its base; tensors that are not of 16 bits are in it, too
$ atomo-bench synth -o a.h5 -q; atomo-bench synth -o b.h5 --seed 2 -q; atomo-bench encode b.h5 --base a.h5 -o p.atomo; atomo-bench decode p.atomo -o c.h5; atomo-bench decode p.atomo --base a.h5 -o c.h5; atomo-bench convert -q b.h5 b.npz; atomo-bench convert -q c.h5 c.npz; cmp b.npz c.npz && echo equal; atomo-bench encode c.npz --base b.npz -o q.atomo; atomo-bench encode a.h5 -c none -o n.atomo -q; atomo-bench decode n.atomo --base a.h5 -o d.h5
> a.h5: *
> b.h5: *
> p.atomo: * of * words of 16 bits changed; * bytes, * a changed word; *
> c.h5: a.h5, patched
> b.npz: *
> c.npz: *
> equal
> n.atomo: *
2> atomo-bench: p.atomo: a patch; want --base OLD, the file that it was made with
2> atomo-bench: b.npz: step_000001/layer0.weight is not plain in this file: packed, not little-endian, or with a checksum
2> hint: patches are of single files: safetensors, .npy, or HDF5 with contiguous datasets
2> atomo-bench: n.atomo: has payloads of none, no patch; want no --base
= 2

# a patch is of whole files: options that choose or limit are refused
$ atomo-bench synth -o a.h5 -q; atomo-bench encode a.h5 --base a.h5 --min-elements 9 -o p.atomo; atomo-bench encode a.h5 --base a.h5 -q -o p.atomo; atomo-bench decode p.atomo --base a.h5 --max-output 9 -o b.h5; ls
> a.h5
> p.atomo
2> atomo-bench: --min-elements: a patch is of a whole file; want no --min-elements with --base
2> atomo-bench: --max-output: a patch is of a whole file; want no --max-output with --base
= 0

# a patch names the tensor that one of the files lacks; the name of the file that decode writes ends as that of OLD
$ atomo-bench synth -o a.h5 --shape 4x5 --shape 6 -q; atomo-bench synth -o b.h5 --shape 4x5 --shape 6 --shape 7 -q; atomo-bench encode b.h5 --base a.h5 -o p.atomo; atomo-bench encode a.h5 --base b.h5 -o p.atomo; atomo-bench encode a.h5 --base a.h5 -o p.atomo; atomo-bench decode p.atomo --base a.h5 -o c.safetensors
> p.atomo: 0 of 52 words of 16 bits changed; * bytes
2> atomo-bench: a.h5 has no tensor step_000001/layer2.weight, which b.h5 has
2> atomo-bench: -o c.safetensors: a patch gives a file of OLD's format; want a name that ends as a.h5 does
= 2
