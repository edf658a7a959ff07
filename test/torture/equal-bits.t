# a stopped run keeps in its journal the rates it found, and --resume uses these rates
$ atomo-bench synth -o g.h5 --shape 64x32 -q; set -- compare g.h5 --equal-bits 1 --repeats 10000 -c entry -c svd -o x.csv; atomo-bench "$@" -q & until grep -qs solve x.csv.journal || ! kill -0 $!; do sleep 0.01; done; kill -TERM $!; wait $!; echo $?; sed -i 's/entry:ratio=[0-9.]*/entry:ratio=0.123/; s/"--repeats": 10000/"--repeats": 2/' x.csv.journal; atomo-bench "$@" --repeats 2 --resume && cut -d, -f 7 x.csv | sort -u
> 130
> entry:ratio=0.123
> svd:rank=*
2> hint: the same command with --resume continues from x.csv.journal
= 0

# a run with another size does not resume this journal
$ atomo-bench synth -o g.h5 --shape 64x32 -q; set -- compare g.h5 --repeats 10000 -c entry -c svd -o x.csv; atomo-bench "$@" --equal-bits 1 -q & until grep -qs solve x.csv.journal || ! kill -0 $!; do sleep 0.01; done; kill -TERM $!; wait $!; atomo-bench "$@" --equal-bits 2 --resume
2> atomo-bench: x.csv.journal: was begun with --equal-bits 1, but this command runs with --equal-bits 2
= 2
