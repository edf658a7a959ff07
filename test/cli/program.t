# help goes to stdout
$ atomo-bench --help
> usage: atomo-bench COMMAND*
>   list *
2>
= 0

# help for a command goes to stdout too
$ atomo-bench list --help
> usage: atomo-bench list [[]CODEC] [[]OPTION]...
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

# without arguments, help goes to stderr
$ atomo-bench
>
2> usage: atomo-bench *
= 2

# an unknown command is refused, and the nearest command is named
$ atomo-bench lits
>
2> atomo-bench: unknown command "lits" (did you mean list?)
2> hint: atomo-bench --help lists the commands
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

# an unknown short option is refused
$ atomo-bench list -z
2> atomo-bench: list: unknown option -z
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

# one argument too many is refused
$ atomo-bench list none ef
2> atomo-bench: list: "ef" is one argument too many
= 2

# an unknown codec is refused, and the nearest codec is named
$ atomo-bench list nona
2> atomo-bench: list: no codec is called "nona" (did you mean none?)
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
