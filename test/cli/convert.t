# a dump goes to safetensors and .npz and back without a changed bit
$ F="$SRC"/datasets/lenet-mnist.h5; for o in a.h5 a.safetensors a.npz; do atomo-bench convert "$F" $o || exit; done; atomo-bench convert a.safetensors b.h5 && cmp a.h5 b.h5 && atomo-bench convert a.npz c.h5 && atomo-bench convert c.h5 c.npz && cmp a.npz c.npz && echo same
> a.safetensors: 16 tensors, 3448640 bytes of float32
> same
2> note: a.npz: 18 attributes, for which the format has no place, are left out
= 0

# the file format of a dump does not change the payloads, and the payloads can be decoded
$ F="$SRC"/datasets/lenet-mnist.h5; atomo-bench convert -q "$F" a.safetensors >a; atomo-bench convert -q "$F" a.npz >a; for f in "$F" a.safetensors a.npz; do atomo-bench encode -q $f -c qsgd -o $(basename $f).atomo >a || exit; atomo-bench decode -q $(basename $f).atomo -o d.h5 --force >a || exit; atomo-bench convert -q d.h5 $(basename $f).d.npz >a 2>&1; done; cmp lenet-mnist.h5.atomo a.safetensors.atomo && cmp lenet-mnist.h5.d.npz a.npz.d.npz && echo equal
> equal
2>
= 0

# the file format does not change sizes and errors
$ F="$SRC"/datasets/lenet-mnist.h5; atomo-bench convert -q "$F" a.npz >a 2>&1; for f in "$F" a.npz; do atomo-bench compare -q $f -t 'fc2*' -c qsgd:bits=2 -c topk:ratio=0.1 --repeats 2 -o r.csv >a && atomo-bench report r.csv -f csv --columns compressor,bytes,relative_error >$(basename $f).csv; done; cmp lenet-mnist.h5.csv a.npz.csv && wc -l <a.npz.csv
> 3
2>
= 0

# the format of a file is recognised by its content, not by its name
$ atomo-bench synth -o g.h5 --shape 30x20 >/dev/null; atomo-bench convert -q g.h5 g.npz >/dev/null; mv g.npz g.txt; atomo-bench inspect g.txt -f csv | cut -d, -f3-6
> layer0.weight,fc,30x20,600
2>
= 0

# a PyTorch pickle is refused; the message prints Python code that saves safetensors
$ printf '\200\002}q\000.' >model.pt; atomo-bench compare model.pt
2> atomo-bench: model.pt: a Python pickle, which can run any program when it is opened; want HDF5, safetensors, .npz or .npy
2> hint: python3 -c 'import torch, safetensors.torch as s; d = torch.load("model.pt", weights_only=True); s.save_file({k: v.contiguous().clone() for k, v in d.get("model", d).items()}, "model.safetensors")' saves the same as safetensors
= 2

# an HDF5 dump is not written under the name of another format
$ atomo-bench synth -o g.npz
2> atomo-bench: g.npz: a dump is written as HDF5; want a name that ends in .h5
2> hint: atomo-bench convert *
= 2

# report and plot refuse a file of gradients and name the next command
$ atomo-bench synth -o g.h5 --shape 4 >/dev/null; atomo-bench convert -q g.h5 g.npz >/dev/null; atomo-bench convert -q g.h5 g.safetensors >/dev/null; for f in g.h5 g.npz g.safetensors; do atomo-bench report $f; atomo-bench plot pareto $f -o x.svg; done
2> atomo-bench: report: g.h5: a file of tensors, not a result
2> atomo-bench: plot: g.npz: a file of tensors, not a result
2> atomo-bench: plot: g.safetensors: a file of tensors, not a result
2> hint: atomo-bench compare g.npz -o result.csv makes a result of gradients
2> hint: atomo-bench compare g.safetensors -o result.csv makes a result of gradients
= 2

# HDF5 files with nested groups, as Keras names its layers, are read as dumps
? /usr/bin/python3 -c 'import h5py'
$ /usr/bin/python3 -c 'import h5py; f = h5py.File("k.h5", "w"); f["model_weights/dense_1/dense_1/kernel:0"] = [[1.0, 2.0]]; f["model_weights/dense_1/dense_1/bias:0"] = [3.0]' && atomo-bench inspect k.h5 -f csv | cut -d, -f3-6 && atomo-bench convert k.h5 k.npz && atomo-bench convert k.npz l.h5 && atomo-bench inspect l.h5 -f csv | cut -d, -f3
> model_weights/dense_1/dense_1/kernel:0,fc,1x2,2
> model_weights/dense_1/dense_1/bias:0
= 0

# names that are a tensor and a group at once are refused for HDF5 with the file and a remedy, and the remedy works
$ printf '\172\0\0\0\0\0\0\0{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a/b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}%13s12345678' '' >in.safetensors; atomo-bench convert in.safetensors out.h5; echo $?; atomo-bench convert in.safetensors out.npz; ls
2> atomo-bench: in.safetensors: a: a tensor and a group at once, which HDF5 cannot hold
2> hint: convert to .npz or .safetensors, or rename the tensor in the input
> 2
> out.npz: 2 tensors, 8 bytes of float32
- out.h5
= 0

# numbers of float64 beyond float32 become Inf, and a note says so
$ h='{"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}'; printf "\\$(printf %o ${#h})"'\0\0\0\0\0\0\0%s\234\165\0\210\074\344\067\176\0\0\0\0\0\0\360\077' "$h" >in.safetensors; atomo-bench convert in.safetensors out.npz
> out.npz: 1 tensor, 8 bytes of float32
2> note: out.npz: 1 tensor of float32 with NaN or Inf, the first is a
= 0
