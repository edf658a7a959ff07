# each codec is run with the rate that gives the requested size; a codec that cannot reach the size is marked, and a note says why
$ atomo-bench synth -o g.h5 --shape 640x320 --shape 640 -q; atomo-bench compare g.h5 --equal-bits 1 --repeats 3 --metrics bits_per_element
> compressor *bits/el *reached
> none *32.00 *no
> qsgd:levels=[34] *no
> terngrad *no
> svd:rank=* *yes
> entry:ratio=* *yes
2> note: none: 32 bits per element: it has no rate to set
2> note: qsgd:levels=[34]: * bits per element: its sizes come in steps, of which this is the nearest
2> note: terngrad: 1.* bits per element: it has no rate to set
= 0

# the expected size is that of the results; the spec in the results gives the size again
$ atomo-bench synth -o g.h5 --shape 640x320 --steps 2 -q; atomo-bench compare g.h5 --equal-bits 0.5 --repeats 3 -c svd -c entry -f csv --metrics bits_per_element_expected >a.csv; atomo-bench compare g.h5 --repeats 3 -c "$(grep ',svd' a.csv | head -n 1 | cut -d, -f 7)" -c "$(grep ',entry' a.csv | head -n 1 | cut -d, -f 7)" -f csv --metrics bits_per_element_expected >b.csv; cut -d, -f 1-10 a.csv >a; cut -d, -f 1-10 b.csv | diff - a && tail -n 2 a.csv | awk -F, '{print ($9 / 0.5 > 0.99 && $9 / 0.5 < 1.01), $11, $12}'
> 1 0.5 true
- 0 *
= 0

# a rate in the spec has no effect, which a note says
$ atomo-bench compare $G --equal-bits 2 --repeats 2 -c qsgd:bits=1/2,bucket=64 -c entry:bits=4 -f csv --metrics bytes | cut -d, -f 7 | tr -d '"' | sort -u | sed 's/=.*//'
> qsgd:levels
> entry:ratio
2> note: qsgd:bits=1,bucket=64: --equal-bits sets qsgd's levels, whatever the spec says
2> note: entry:bits=4: --equal-bits sets entry's ratio, whatever the spec says
= 0

# specs that become equal by their new rates run once
$ atomo-bench compare $G --equal-bits 2 --repeats 2 -c qsgd:bits=1/2/4 -c qsgd --metrics bytes | grep -c qsgd
> 1
= 0

# the rate of a wrapper is that of its inner codec; a codec's state is carried from step to step
$ atomo-bench synth -o g.h5 --shape 640x320 --steps 3 -q; atomo-bench compare g.h5 --equal-bits 1 --repeats 2 -c ef+entry --metrics bits_per_element
> ef+entry:ratio=* *yes
= 0

# raw tensors below --min-elements count in the size
$ atomo-bench synth -o g.h5 --shape 640x320 --shape 6400 -q; atomo-bench compare g.h5 --equal-bits 1.5 --min-elements 10000 --repeats 2 -c entry --metrics bits_per_element
> entry:ratio=* 1.[45]* *yes
= 0

# its two fields come after the fields of compare
$ atomo-bench compare $G --equal-bits 2 --repeats 2 -c none -f csv --metrics bytes | cut -d, -f 7-
> compressor,repeats,bytes,error,target_bits,reached,seed,spec
> none,2,8192,,2,false,1,none:code=fixed
= 0
