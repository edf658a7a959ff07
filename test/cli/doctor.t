# every part of the machine has its line
$ atomo-bench doctor
> what *found *ok *what to do
> instruction set *
> cores *usable *
> memory *
> blas kernels *
> lapack *
> hdf5 *
> fftw *
> zstd *
> blosc *
> gnuplot *
> clock *
> temporary files *
2>
= 0

# JSON with the facts of the run
? command -v python3
$ atomo-bench doctor --format json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["schema"], sorted(d["results"][0]), d["meta"]["command"])'
> atomo-doctor/1 ?'advice', 'found', 'ok', 'what'? atomo-bench doctor --format json
= 0

# BLAS kernels too slow for the CPU
? grep -q avx2 /proc/cpuinfo
$ OPENBLAS_CORETYPE=Prescott atomo-bench doctor
> blas kernels *Prescott* no *set OPENBLAS_CORETYPE=*
= 0

# an address space limit that OpenBLAS could hang on
? ! nm -D "$(command -v atomo-bench)" | grep -q asan
$ ulimit -v 3000000; atomo-bench doctor
> address space limit *2.86 GiB *no *ulimit -v unlimited
= 0

# no gnuplot
$ b=$(command -v atomo-bench); PATH=/nonexistent "$b" doctor
> gnuplot *not found *no *install gnuplot-nox
= 0

# a temporary directory that is not there
$ TMPDIR=/nonexistent atomo-bench doctor
> temporary files */nonexistent: cannot be written *no *set TMPDIR*
= 0
