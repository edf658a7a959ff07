# --resume refuses results that were read in another way
$ atomo-bench synth -o g.h5 --shape 12x12x12x12 >out; atomo-bench compare -q g.h5 -c none -c svd --layout oihw --repeats 3000 -o r.csv & while ! grep -qs place r.csv.part && kill -0 $!; do sleep 0.05; done; kill $!; wait; atomo-bench compare -q g.h5 -c none -c svd --layout hwio --repeats 3000 -o r.csv --resume
2> atomo-bench: *r.csv.part*layout*
= 2
