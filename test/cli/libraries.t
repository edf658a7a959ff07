# commands that read no dump and are not started by mpirun load neither HDF5 nor MPI; a command that writes a dump loads HDF5
? LD_DEBUG=files atomo-bench --version 2>&1 | grep 'calling init' # needs glibc's LD_DEBUG
$ loaded() { LD_DEBUG=files "$@" 2>&1 >/dev/null | grep -c 'calling init.*lib\(hdf5\|curl\|mpi\|open-rte\)' | sed "s/^[1-9].*/loaded/; s/^0/not loaded/; s/^/$1 $2: /"; }; loaded atomo-bench --version; loaded atomo-bench list; loaded atomo-bench --help; loaded atomo-train --help; loaded atomo-bench synth --shape 4 -q -o g.h5
> atomo-bench --version: not loaded
> atomo-bench list: not loaded
> atomo-bench --help: not loaded
> atomo-train --help: not loaded
> atomo-bench synth: loaded
2>
= 0

# neither the programs nor the public library are linked to them
? command -v readelf
$ for f in "$(command -v atomo-bench)" "$(command -v atomo-train)" "$PUBLIC/libatomo.so"; do readelf -d "$f" | grep -c 'NEEDED.*lib\(hdf5\|mpi\)'; done | tr '\n' ' '
> 0 0 0 
2>
= 0

# without the HDF5 library, a dump is neither read nor written, the message says why, and other commands work
$ atomo-bench synth --shape 4 -q -o g.h5; LC_ALL=C sed 's/libhdf5\([_a-z]*\.so\)/libhdfX\1/' "$(command -v atomo-bench)" >bench; chmod +x bench; ./bench inspect g.h5; echo "inspect $?"; ./bench synth --shape 4 -q -o new.h5; echo "synth $?"; ls -A; ./bench convert g.h5 g.npz -q; echo "convert $?"; ./bench list >/dev/null; echo "list $?"; ./bench doctor
> inspect 1
> synth 1
> convert 1
> list 0
> hdf5 *the HDF5 library cannot be loaded: libhdfX*no *install *libhdf5*
- *new.h5
- *g.npz
2> atomo-bench: g.h5: the HDF5 library cannot be loaded: libhdfX*: cannot open shared object file: No such file or directory
2> atomo-bench: new.h5: the HDF5 library cannot be loaded: libhdfX*: cannot open shared object file: No such file or directory
2> hint: install *libhdf5*
- *-dev*
= 0

# hints name the Debian package that has the library's file; the package of headers is not needed
? dpkg -l 'libopenblas0*' # needs dpkg and its packages
$ atomo-bench synth --shape 30x30 -q -o g.h5; for p in bench train; do for l in hdf5 openblas mpi; do eval "$l=\$(grep -aoh \"lib$l[a-z_]*\\.so\\.[0-9]*\" \"$(command -v atomo-$p)\" | head -n 1)"; done; LC_ALL=C sed 's/lib\(hdf5\|openblas\|mpi\)\([_a-z]*\.so\.\)/liX\1\2/g' "$(command -v atomo-$p)" >$p; chmod +x $p; done; dpkg -S "*/$hdf5" "*/$openblas" ${mpi:+"*/$mpi"} >owners; package() { grep "/$1\$" owners | sed -n 's/^\([^:,]*\)[:,].*/\1/p' | head -n 1; }; ./bench inspect g.h5 2>&1 | grep -qx "hint: install $(package "$hdf5")" && echo hdf5; atomo-bench convert g.h5 n.npz -q; for c in "inspect n.npz" "compare n.npz -c svd --repeats 1" "merge n.npz -c svd --workers 2" "sweep n.npz -c svd --repeats 1" "cost n.npz -c svd --repeats 1"; do ./bench $c 2>&1 | grep -qx "hint: install $(package "$openblas")" && echo "${c%% *} openblas"; done; if [ -z "$mpi" ]; then echo mpi is not in this build; else OMPI_COMM_WORLD_SIZE=2 ./train run 2>&1 | grep -qx "hint: install $(package "$mpi")" && echo mpi; fi
> hdf5
> inspect openblas
> compare openblas
> merge openblas
> sweep openblas
> cost openblas
> mpi*
= 0

# training that shall write checkpoints or gradients does not start without the HDF5 library, whose absence the first of them would show
$ LC_ALL=C sed 's/libhdf5\([_a-z]*\.so\)/libhdfX\1/' "$(command -v atomo-train)" >train; chmod +x train; for o in '--train-dir dir' '--dump-gradients g.h5'; do ./train run --network softmax --dataset digits --max-steps 3 --eval-freq 2 $o -o r.csv; echo "$o $?"; done; ls -A; ./train run --network softmax --dataset digits --max-steps 1 -q >/dev/null; echo "none $?"
> --train-dir dir 1
> --dump-gradients g.h5 1
> none 0
- dir
- g.h5*
- r.csv*
- note*
2> atomo-train: --train-dir dir: the HDF5 library cannot be loaded: libhdfX*: cannot open shared object file: No such file or directory
2> atomo-train: --dump-gradients g.h5: the HDF5 library cannot be loaded: *
2> hint: install *
= 0

# without the MPI library, a program that mpirun starts says so, and one that is started alone runs
? ! atomo-train --version | grep -q 'mpi *none' # needs a program built with MPI
$ LC_ALL=C sed 's/libmpi\([a-z]*\.so\)/libmpX\1/' "$(command -v atomo-train)" >train; chmod +x train; ./train run --network softmax --dataset digits --max-steps 1 -q >/dev/null; echo "alone $?"; OMPI_COMM_WORLD_SIZE=2 ./train run --network softmax --dataset digits --max-steps 1
> alone 0
2> atomo-train: *MPI cannot be loaded: libmpX*: cannot open shared object file: No such file or directory
2> hint: install *lib*mpi*
= 1

# doctor does not call MPI present where its library is missing
? ! atomo-train --version | grep -q 'mpi *none' # needs a program built with MPI
$ LC_ALL=C sed 's/libmpi\([a-z]*\.so\)/libmpX\1/' "$(command -v atomo-bench)" >bench; chmod +x bench; ./bench doctor
> mpi *MPI cannot be loaded: libmpX*no *install *
2>
= 0
