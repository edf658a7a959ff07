# a stopped sweep continues from FILE.part
$ atomo-bench synth -o g.h5 --shape 64x32 -q; set -- sweep g.h5 --repeats 100 -c qsgd -c svd -o x.csv; atomo-bench "$@" -q & until [ "$(grep -cs '"tensor"' x.csv.part)" -gt 3 ] || ! kill -0 $!; do sleep 0.01; done; kill -TERM $!; wait $!; echo $?; atomo-bench "$@" --resume && cut -d, -f 3,49 x.csv | grep -c '^\*,'; ls
> 130
> 14
> x.csv
- x.csv.part
= 0
