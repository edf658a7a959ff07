# help goes to stdout
$ atomo-bench --help
> usage: atomo-bench COMMAND*
>   atomo-bench compare FILE *
>   list *
2>
= 0

# help for a command goes to stdout too
$ atomo-bench list --help
> usage: atomo-bench list [[]CODEC|SPEC] [[]OPTION]...
>   -f, --format NAME *format of the results*
2>
= 0

# `help COMMAND` prints the same as `COMMAND --help`
$ atomo-bench help list >a; atomo-bench list --help >b; cmp a b
>
= 0

# --help takes precedence over the arguments after it
$ atomo-bench list --help --nonsense
> usage: *
= 0

# the version names the program, its revision and its libraries
$ atomo-bench --version
> atomo-bench [0-9]*.[0-9]*.[0-9]*
> isa *
> openblas *
> blas_core *
> hdf5 *
2>
= 0

# without arguments, first steps go to stderr
$ atomo-bench
>
2> atomo-bench: compare gradient compressors on saved gradients
= 2

# an unknown command is refused, and the nearest command is named
$ atomo-bench lits
>
2> atomo-bench: unknown command "lits" (did you mean list?)
2> hint: atomo-bench --help lists the commands; atomo-train has others
= 2

# for an unknown command that is like no other, none is named
$ atomo-bench qqqqqqqq
2> atomo-bench: unknown command "qqqqqqqq"
- *did you mean*
= 2

# an unknown option is refused, and the nearest option is named
$ atomo-bench list --fromat csv
2> atomo-bench: list: unknown option --fromat (did you mean --format?)
2> hint: atomo-bench list --help lists the options
= 2

# an option without its value is refused
$ atomo-bench list --format
2> atomo-bench: list: --format: the value is missing: want NAME
= 2

# an unknown value of a choice is refused; the choices and the nearest one are named
$ atomo-bench list --format=tabel
2> atomo-bench: list: --format tabel: want table|csv|json|md|latex
2> hint: did you mean table?
= 2

# a switch with a value is refused
$ atomo-bench list --quiet=yes
2> atomo-bench: list: --quiet takes no value
= 2

# names of the literature lead to the codecs' names in every command; none leads to another codec, and none that is only similar is taken
$ F="$SRC"/datasets/lenet-mnist.h5; for n in atomo adacomp; do atomo-bench compare "$F" -c "$n"; done; atomo-bench list Signum; atomo-bench sweep "$F" -c 1-bit-adam; atomo-train run -c EF-signSG --network lenet --dataset digits
2> atomo-bench: codec atomo: no codec is called "atomo"
2> hint: try svd; svd is ATOMO over singular values, entry over elements, fourier over frequencies
2> hint: try ef+stc; AdaComp selects within bins of elements, stc within the tensor
2> atomo-bench: list: no codec is called "Signum"
2> hint: try sign; Signum sends the signs of a momentum, sign those of the gradient
2> hint: try ef+scaledsign; 1-bit Adam sends a momentum so, after a warm-up without compression
2> atomo-train: *codec EF-signSG: no codec is called "EF-signSG"
- *did you mean*
= 2

# help begins with examples, which name no unknown option
$ for p in atomo-bench atomo-train; do $p --help | sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p' | while read -r c; do $p $c --help >h; awk '/^examples:/ {e = NR} /^options:/ {o = NR} END {exit !(e && e < o)}' h || echo "no examples: $c"; grep "^  $p $c" h | grep -o -e ' --[a-z-]*' | sort -u | while read -r o; do grep -q -e "^  .*$o " h || echo "unknown: $c $o"; done; done; done; atomo-bench compare --help | sed -n 5,6p
> examples:
>   atomo-bench compare FILE
- no examples*
- unknown*
2>
= 0

# one argument too many is refused
$ atomo-bench list none ef
2> atomo-bench: list: "ef" is one argument too many
= 2

# after -- no argument is an option
$ atomo-bench list -- --help
2> atomo-bench: list: no codec is called "--help"*
= 2

# a short option may have a blank before its value; short switches can be joined
$ atomo-bench list none -fcsv >a; atomo-bench list none -qvf csv >b; cmp a b && cat a
> key,type,range,default,rate,excludes,meaning
= 0

# if an option is given twice, the last value counts
$ atomo-bench list --format=json --format csv
> codec,flags,*
- {*
= 0

# control characters in an argument are not printed to the terminal
$ atomo-bench "$(printf 'li\033[31mst')"
2> *unknown command "li[?]*31mst"*
= 2
