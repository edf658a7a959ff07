#!/bin/sh
# pages.sh -- makes the folders that test/page.py opens as pages of `report`: hostile, numbers, seeds, crowd
set -e
mkdir hostile numbers seeds crowd

# File names, commands, tensors, codecs and messages that are scripts, and a name that reverses the direction of writing.
script='<script>window.alerted=1</script>'
printf '{"schema": "atomo-inspect/1", "meta": {"command": "%s"}, "results": [{"tensor": "%s", "stable_rank": 10, "n": null, "kind": "b"}, {"tensor": "z", "stable_rank": 9, "n": 2, "kind": null}, {"tensor": "a", "stable_rank": 1e-9, "n": 1, "kind": "a"}]}' \
    "$script" "$script" >hostile/a.json
printf '<svg xmlns="http://www.w3.org/2000/svg"><script>window.alerted=1</script><image href="http://127.0.0.1:9/x"/></svg>' >hostile/b.svg
printf 'tensor,compressor,repeats,bits_per_element,relative_error,error\n*,svd,1,2,0.5,\n*,qsgd,1,10,,%s\n*,%s,1,3,0.7,\n<!--<script>,svd,1,4,0.6,\na\342\200\256evil,svd,1,4,0.6,\n' \
    "$script" "$script" >'hostile/"><img src=x onerror=window.alerted=1>.csv'

# A tensor without a row over all steps, values in closed form, an interval that reaches 0, and numbers of every size.
cat >numbers/c.csv <<'END'
step,tensor,compressor,repeats,bits_per_element,relative_error,relative_error_se,relative_error_expected
1,a,svd,5,1,3,0.4,2.5
2,a,svd,5,1,3,0.4,2.5
*,*,svd,5,1,3,0.4,2.5
1,a,qsgd,5,2,0.5,0.4,
*,*,qsgd,5,2,0.5,0.4,
*,*,qsgd:bits=1,5,3,12345678,,
*,*,qsgd:bits=6,5,0.25,1.25e-9,,
*,*,sign,5,4,0.000123456,,
END

# Two runs that differ in their seed, one with more workers, and a comparison.
sh "$SRC"/test/cli/tiny.sh
train="atomo-train run --network softmax --dataset mnist --max-steps 2 --eval-freq 1 -c qsgd -c none -q"
$train --seed 1 -o seeds/a.json
$train --seed 2 -o seeds/b.json
$train --seed 1 --workers 2 -o seeds/c.json
atomo-bench synth -o g.h5 --shape 100x20 -q
atomo-bench compare g.h5 -c qsgd -c svd -q -o seeds/e.json

# Points beside one another, and curves that lie on one another.
{
    echo tensor,compressor,repeats,bits_per_element,relative_error
    for i in 1 2 3 4 5 6; do printf '*,qsgd:bits=%d,1,%d,%d\n*,topk:ratio=0.0%d,1,%d,%d.1\n' $i $i $i $i $((i + 1)) $i; done
    echo '*,svd,1,1,60'
} >crowd/c.csv
{
    echo record,compressor,step,test_accuracy,sim_seconds
    for c in sign svd eden; do for i in 1 2 3 4; do echo "step,$c,$i,0.$((i + 2)),$i"; done; done
    for i in 1 2 3 4; do echo "step,randk,$i,0.$((8 - i)),$i"; done
} >crowd/r.csv

for d in hostile numbers seeds crowd; do atomo-bench report $d -q; done
