# help goes to stdout
$ atomo-bench --help
> usage: atomo-bench COMMAND*
>   list *
2>
= 0

# so does a command's help
$ atomo-bench list --help
> usage: atomo-bench list [[]CODEC] [[]OPTION]...
>   -f, --format NAME *format of the results*
2>
= 0

# help COMMAND is COMMAND --help
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

# no arguments: help on stderr
$ atomo-bench
>
2> usage: atomo-bench *
= 2

# an unknown command names the nearest
$ atomo-bench lits
>
2> atomo-bench: unknown command "lits" (did you mean list?)
2> hint: atomo-bench --help lists the commands
= 2

# an unknown command like no other names none
$ atomo-bench qqqqqqqq
2> atomo-bench: unknown command "qqqqqqqq"
- *did you mean*
= 2

# an unknown option names the nearest
$ atomo-bench list --fromat csv
2> atomo-bench: list: unknown option --fromat (did you mean --format?)
2> hint: atomo-bench list --help lists the options
= 2

# an unknown short option
$ atomo-bench list -z
2> atomo-bench: list: unknown option -z
= 2

# a missing value
$ atomo-bench list --format
2> atomo-bench: list: --format: the value is missing: want NAME
= 2

# an unknown choice lists the choices and the nearest
$ atomo-bench list --format=tabel
2> atomo-bench: list: --format tabel: want table|csv|json|md|latex
2> hint: did you mean table?
= 2

# a switch takes no value
$ atomo-bench list --quiet=yes
2> atomo-bench: list: --quiet takes no value
= 2

# one argument too many
$ atomo-bench list none ef
2> atomo-bench: list: "ef" is one argument too many
= 2

# an unknown codec names the nearest
$ atomo-bench list nona
2> atomo-bench: list: no codec is called "nona" (did you mean none?)
= 2

# after -- nothing is an option
$ atomo-bench list -- --help
2> atomo-bench: list: no codec is called "--help"*
= 2

# short options take their value with or without a blank, and switches group
$ atomo-bench list none -fcsv >a; atomo-bench list none -qvf csv >b; cmp a b && cat a
> key,type,range,default,rate,excludes,meaning
= 0

# a single option given twice: the last wins
$ atomo-bench list --format=json --format csv
> codec,flags,*
- {*
= 0

# a control character in an argument does not reach the terminal
$ atomo-bench "$(printf 'li\033[31mst')"
2> *unknown command "li[?]*31mst"*
= 2
