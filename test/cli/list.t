# flags are the promises of what can stand alone; a wrapper that cannot says what it is, and no more
$ atomo-bench list
> codec *flags *rate key *what it is
> entry *unbiased *ratio *
> joint *unbiased, wrapper *bits *
> ef *stateful, wrapper *- *
2>
= 0

# as fields, what a wrapper leaves to the codec behind it is unknown
$ atomo-bench list -f csv
> randk,"unbiased, linear, mergeable",ratio,*,true,true,false,false
> joint,"unbiased, wrapper",bits,*,true,false,false,true
> ef,"stateful, wrapper",,*,,,true,true
2>
= 0

# with a name: formula, keys, what repeats can see
$ atomo-bench list joint
> joint
> *; unbiased, wrapper
> bits *real *yes *
> What repeats can see: *
2>
= 0
