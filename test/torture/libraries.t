# the hint names the limit that the library met
$ atomo-bench synth -o g.h5 --shape 30 -q; atomo-bench encode g.h5 -c none -o a.atomo -q; (ulimit -n 4; atomo-bench decode a.atomo -o n.h5 -q); echo $?; ls
> 1
> a.atomo
> g.h5
- n.h5
2> atomo-bench: n.h5: the HDF5 library cannot be loaded: *Too many open files
2> hint: raise the limit on open files (ulimit -n)
= 0
