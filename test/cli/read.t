# kernels that Keras wrote are recognised by the attribute layout; they have the singular values of PyTorch's order
? /usr/bin/python3 -c 'import h5py, numpy'
$ /usr/bin/python3 -c 'import h5py, numpy as np; k = np.random.default_rng(1).standard_normal((3, 3, 16, 32)).astype("f4"); f = h5py.File("k.h5", "w"); f["conv/kernel"] = k; f.attrs["layout"] = "HWIO"; g = h5py.File("t.h5", "w"); g["conv/kernel"] = k.transpose(3, 2, 0, 1); g.attrs["layout"] = "oihw"' && for f in k t; do atomo-bench inspect $f.h5 --spectrum -q -o $f.csv || exit; atomo-bench compare $f.h5 -c svd -c qsgd --repeats 2 --metrics bytes,mse -f csv >$f.c || exit; done; cmp k.csv t.csv && cmp k.c t.c && wc -l <k.csv; atomo-bench inspect k.h5 -f csv | cut -d, -f3-5
> 19
> conv/kernel,conv,32x16x3x3
2>
= 0

# without an attribute a note says that their order is in doubt; --layout settles it, in every command
? command -v python3
$ python3 "$SRC"/test/cli/tensors.py k.h5 '{"conv/kernel": normal(3, 3, 16, 32)}' && atomo-bench inspect k.h5 --spectrum -f csv | wc -l; for c in "inspect k.h5" "convert k.h5 c.h5" "encode k.h5 -c none -o e.atomo" "verify k.h5" "compare k.h5 -c svd --repeats 1" "sweep k.h5 -c svd --rates 1 --repeats 1" "merge k.h5 -c svd --workers 2 --repeats 1" "cost k.h5 -c svd --workers 2 --repeats 1"; do atomo-bench $c --layout hwio >out 2>err || exit; grep -c 'as in Keras' err; done; atomo-bench inspect c.h5 -f csv | cut -d, -f5; atomo-bench decode -q e.atomo -o d.h5 && atomo-bench convert -q d.h5 d.npz && atomo-bench convert -q c.h5 c.npz && cmp c.npz d.npz && echo equal
> 10
> 0
- 1
> 32x16x3x3
> *equal
2> note: k.h5: kernels such as conv/kernel (3x3x16x32) may be height x width x in x out, as in Keras, and are read as out x in x height x width; --layout hwio if they are, else --layout oihw
= 0

# ... also where all axes are short; a kernel of three axes is not transposed, and a note says so, also where the layout is unknown
? command -v python3
$ python3 "$SRC"/test/cli/tensors.py k.h5 '{"conv/kernel": normal(3, 3, 8, 8)}'; python3 "$SRC"/test/cli/tensors.py l.h5 '{"conv1d/kernel": normal(5, 16, 32), "dense/kernel": normal(16, 32)}'; atomo-bench inspect k.h5 >out; atomo-bench inspect k.h5 --layout hwio -f csv | cut -d, -f5; atomo-bench inspect l.h5 --layout hwio -f csv | cut -d, -f5; echo; atomo-bench inspect l.h5 >out; atomo-bench inspect l.h5 --layout oihw >out
> 8x8x3x3
> 5x16x32
2> note: k.h5: kernels such as conv/kernel (3x3x8x8) may be height x width x in x out*
2> note: l.h5: conv1d/kernel, a kernel of 3 axes, is read as it is stored, as out x in x ... (kernels like this: 1); --layout hwio transposes kernels of four axes only*
2> note: l.h5: conv1d/kernel, a kernel of 3 axes, is read as it is stored*
= 0

# a user block before the file moves no data
? /usr/bin/python3 -c 'import h5py, numpy'
$ /usr/bin/python3 -c 'import h5py, numpy as np; f = h5py.File("u.h5", "w", userblock_size=1024); f["a"] = np.arange(9, dtype="f4")'; atomo-bench convert -q u.h5 u.npz && /usr/bin/python3 -c 'import numpy; print(numpy.load("u.npz")["a"].sum())'
> 36.0
= 0

# PyTorch's kernels raise no doubt
$ for s in 64x3x7x7 64x64x3x3 20x1x5x5 64x32x1x1 96x3x16x16; do atomo-bench synth -o g.h5 --shape $s --force >out && atomo-bench inspect g.h5 >out || exit; done
2>
= 0

# steps in nested groups are found by a glob; a note names it
? command -v python3
$ python3 "$SRC"/test/cli/tensors.py n.h5 '{"epoch%d/iter%d/fc/weight" % (e, i): normal(4, 5) for e in (1, 2, 10) for i in (3, 17)}' && atomo-bench inspect n.h5 --steps-from 'epoch*/iter*' -f csv | cut -d, -f1,3; atomo-bench compare n.h5 --steps-from 'epoch*/iter*' --step 'epoch10/*' -c ef+topk:ratio=0.5 --metrics bytes -f csv | cut -d, -f1-3,7; atomo-bench inspect n.h5 >out
> 1000003,fc/weight
> 10000017,fc/weight
> 10000017,,fc/weight,ef+topk:ratio=0.5
- 2000003,*ef*
2> note: n.h5: the groups of epoch1/iter3/fc/weight look like a step, and are read as a part of the tensor's name; --steps-from 'epoch*/iter*'
= 0

# two steps of one number are refused, where joined numbers do not tell them apart, too
? command -v python3
$ for n in run20260101/iter5,run20260102/iter5 epoch1/iter3,epoch01/iter3 epoch1/best,epoch1/last; do python3 "$SRC"/test/cli/tensors.py n.h5 '{n + "/fc/weight": normal(4, 5) for n in "'$n'".split(",")}'; atomo-bench inspect n.h5 --steps-from '*/*'; done
2> *--steps-from: run20260101/iter5: cannot join the number 20260101 with those of other levels
2> *--steps-from: epoch01/iter3 and epoch1/iter3 are steps of the same number
2> *--steps-from: epoch1/best and epoch1/last are steps of the same number
>
= 2

# a folder of files is steps or workers by their names; diff subtracts two such folders; --list tells file and type from headers
? /usr/bin/python3 -c 'import numpy'
$ /usr/bin/python3 -c 'import os, numpy as np; r = np.random.default_rng(1); [os.mkdir(d) for d in "abc"]; [np.savez("%s/step_%d.npz" % (d, s), **{"fc.weight": r.standard_normal((30, 20)).astype("f2")}) for d in "ab" for s in (9, 10)]; np.savez("c/other.npz", x=r.standard_normal(3))'; atomo-bench diff a b -o d.h5 --scale -2 && atomo-bench inspect d.h5 --list -f csv; atomo-bench inspect a --list -f csv 2>/dev/null; atomo-bench compare a/step_9.npz a/step_10.npz -c none -q -f csv | wc -l; atomo-bench diff a a -o z.h5 -q 2>&1; atomo-bench diff a c -o e.h5; echo $?
> d.h5: 2 tensors, 1200 elements, of which 1200 differ
> fc.weight,30x20,600,F32,2400,d.h5,9,
> fc.weight,30x20,600,F16,1200,a/step_10.npz,10,
> 6
> z.h5: 2 tensors, 1200 elements, of which 0 differ
2> atomo-bench: a and c have no tensor in common
2> note: b: 2 files are read as steps
> 2
= 0

# plain inspect leaves out spectra that take long, and says so
$ atomo-bench synth -q -o g.h5 --shape 1025x1025 && atomo-bench inspect g.h5 -f csv | cut -d, -f16-17
2> note: g.h5: the spectra of 1 tensor with more than 1024 rows and columns are left out*
> ,
= 0

# --spectrum has the leading values of such a tensor, and says so, in the file too; svd takes leading vectors, and says so
$ atomo-bench synth -q -o g.h5 --shape 1025x1025 --shape 8x1025 && atomo-bench inspect g.h5 --spectrum -o s.json && grep -c '"index"' s.json; grep leading s.json; atomo-bench inspect g.h5 -t layer1.weight --spectrum -f json | grep -c leading; for c in svd ef+svd:method=gram joint; do atomo-bench compare g.h5 -c $c --repeats 1 --metrics bytes >out; done
2> note: g.h5: of 1 tensor with more than 1024 rows and columns the 64 largest singular values, approximately
2> note: g.h5: svd takes the leading singular vectors of 1 tensor with more than 1024 rows and columns*
2> note: g.h5: svd takes the leading singular vectors of 1 tensor with more than 1024 rows and columns*
> 72
>   "leading_values_only": 64},
> 0
= 0

# files with steps of their own cannot be steps, but workers
$ atomo-bench synth -o a.h5 --shape 64 --steps 2 -q; cp a.h5 b.h5; atomo-bench inspect a.h5 b.h5 --workers-as files -f csv -q | cut -d, -f 1-3 | tr '\n' ' '; atomo-bench inspect a.h5 b.h5 --steps-as files
> *1,0,layer0.weight 1,1,layer0.weight 2,0,layer0.weight 2,1,layer0.weight *
2> atomo-bench: a.h5 and others: two tensors of the name step_000001/layer0.weight
2> hint: each file has steps of its own: --workers-as files
= 1

# a preloaded malloc is that of the libraries, too
? command -v cc && ! nm -D "$(command -v atomo-bench)" | grep -q asan # needs cc, and no sanitizer
$ atomo-bench synth -o g.h5 --shape 20x10 -q; cc -shared -fPIC -fno-builtin -o malloc.so "$SRC/test/cli/malloc.c"; LD_PRELOAD=$PWD/malloc.so atomo-bench compare g.h5 -c svd -f csv --metrics bytes -q | grep -c svd
> 2
= 0
