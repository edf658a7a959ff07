# doctor prints a line for every part of the machine
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
> zfp *
> mpi *
> gnuplot *
> clock *
2>
= 0

# JSON with the facts of the run
? command -v python3
$ atomo-bench doctor --format json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["schema"], sorted(d["results"][0]), d["meta"]["command"])'
> atomo-doctor/1 ?'advice', 'found', 'ok', 'what'? atomo-bench doctor --format json
= 0

# a warning if the BLAS kernels are too slow for the CPU
? grep -q avx2 /proc/cpuinfo
$ OPENBLAS_CORETYPE=Prescott atomo-bench doctor
> blas kernels *Prescott* no *set OPENBLAS_CORETYPE=*
= 0

# a warning if there is no gnuplot
$ b=$(command -v atomo-bench); PATH=/nonexistent "$b" doctor
> gnuplot *not found *no *install gnuplot-nox
= 0
