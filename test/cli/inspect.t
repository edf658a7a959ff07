# inspect writes one record per tensor
$ atomo-bench synth -o g.h5 --shape 30x20 --shape 7 --seed 3 >/dev/null && atomo-bench inspect g.h5
> step *tensor *shape *stable rank*
> * 30x20 * 600 *
> * 7 * 7 *
= 0

# the fields of csv
$ atomo-bench synth -o g.h5 --shape 30x20 >/dev/null && atomo-bench inspect g.h5 --format csv
> step,worker,tensor,kind,shape,n,min,max,mean,std,l1,l2,linf,zeros,nonfinite,stable_rank,nuclear_norm,theorem6_left,theorem6_right,theorem6_winner,qsgd_budget,terngrad_budget*
= 0

# a matrix has as many singular values as columns
$ atomo-bench synth -o g.h5 --shape 30x20 >/dev/null && atomo-bench inspect g.h5 --spectrum --format csv | wc -l
> 21
= 0

# the bins of the histogram hold every element
$ atomo-bench synth -o g.h5 --shape 30x20 >/dev/null && atomo-bench inspect g.h5 --histogram --bins 8 --format csv | awk -F, 'NR == 1 { print } NR > 1 { n += $4 } END { print NR - 1, n }'
> tensor,bin_low,bin_high,count*
> 8 600
= 0

# a sample has so many rows of a matrix, each once, which the seed draws, and no spectrum; as many as there are give the matrix
$ python3 "$SRC"/test/cli/tensors.py r.st '{"w": [[2**i] * 4 for i in range(12)]}'; for s in 1 2 3 4 1; do atomo-bench inspect r.st --sample 3 --seed $s -f csv -q | tail -n 1 >$s; cat $s; done | awk -F, '{ rows = 0; for (v = $11 / 4; v >= 1; v = int(v / 2)) rows += v % 2; print $5, $6, rows, "[" $16 "]" }' | uniq; sort -u 1 2 3 4 | wc -l; for k in '' '--sample 12'; do atomo-bench inspect r.st $k -f csv -q | tail -n 1; done | uniq | wc -l; atomo-bench inspect r.st --sample 3 >out; atomo-bench inspect r.st --sample 3 --list
> 3x4 12 3 []
> 4
> 1
2> note: r.st: of each tensor 3 random rows are described, *
2> atomo-bench: --sample: not with --list or --spectrum
= 2

# a file that does not exist is refused
$ atomo-bench inspect nowhere.h5
> 
2> atomo-bench: nowhere.h5: *
= 1

# rows of a spectrum or histogram over several steps name the step, in files and figures; those of one step need not
$ atomo-bench synth -o g.h5 --shape 3x4 --steps 2 -q; for v in spectrum 'histogram --bins 2'; do atomo-bench inspect g.h5 --$v -q -f csv | cut -d, -f 1,4-; atomo-bench inspect g.h5 -s 2 --$v -q -f csv | head -n 1; done; atomo-bench inspect g.h5 --spectrum -q -o s.csv; atomo-bench plot spectrum s.csv -q -o s.tex; grep -o 'step [0-9]' s.tex
> tensor,step,worker
> layer0.weight,1,
> layer0.weight,1,
> layer0.weight,1,
> layer0.weight,2,
> layer0.weight,2,
> layer0.weight,2,
> tensor,index,value
> tensor,count,step,worker
> layer0.weight,*,1,
> layer0.weight,*,1,
> layer0.weight,*,2,
> layer0.weight,*,2,
> tensor,bin_low,bin_high,count
> step 1
> step 2
2>
= 0

# one kind of tensors alone: convolutions in one figure, fully-connected layers in another
$ F="$SRC"/datasets/lenet-mnist.h5; for k in conv fc 'b*'; do atomo-bench inspect "$F" --kind "$k" --step '*1000' -f csv | cut -d, -f3,4 | tail -n +2 | tr '\n' ' '; echo; done; atomo-bench inspect "$F" --kind conv --spectrum -f csv -q | cut -d, -f1 | sort -u
> conv1.weight,conv conv2.weight,conv 
> fc1.weight,fc fc2.weight,fc 
> conv1.bias,bias conv2.bias,bias fc1.bias,bias fc2.bias,bias 
> conv1.weight
> conv2.weight
> tensor
= 0

# a large tensor that the reader process unpacks: 20 M float16 numbers, three of which are not zero
$ { printf '\105\0\0\0\0\0\0\0{"w":{"dtype":"F16","shape":[20000000],"data_offsets":[0,40000000]}} '; } >h.safetensors; truncate -s 40000077 h.safetensors; for at in 77 20000077 40000075; do printf '\0\074' | dd of=h.safetensors bs=1 seek=$at conv=notrunc 2>/dev/null; done; atomo-bench inspect h.safetensors --histogram --bins 2 --format csv | cut -d, -f4; rm h.safetensors
> count
> 19999997
> 3
= 0

# a tensor beyond this machine's memory is refused before anything is read
$ printf '\123\0\0\0\0\0\0\0{"w":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}}     ' >h.safetensors; truncate -s 4000000000091 h.safetensors && atomo-bench inspect h.safetensors; echo $?; atomo-bench compare h.safetensors -c none; rm h.safetensors
> 1
2> atomo-bench: h.safetensors: w: its 1000000000000 elements take 1.2e+04 GB of memory, want at most the * GB of this machine
2> atomo-bench: h.safetensors: w: its 1000000000000 elements take 1.6e+04 GB of memory, want at most the * GB of this machine
= 0

# ... by every command that would read it; a merge takes seven times the tensor
$ printf '\123\0\0\0\0\0\0\0{"w":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}}     ' >h.safetensors; truncate -s 4000000000091 h.safetensors && for c in 'encode h.safetensors -c topk -o x' 'encode h.safetensors -c ef+topk -o x' 'convert h.safetensors x.npz' 'merge h.safetensors -c topk --workers 2'; do atomo-bench $c -q; echo $?; done; rm h.safetensors; ls
> 1
- 0
- x*
2> atomo-bench: h.safetensors: w: its 1000000000000 elements take 4000 GB of memory, want at most the * GB of this machine
2> atomo-bench: h.safetensors: w: its 1000000000000 elements take 2.8e+04 GB of memory, want *
= 0
