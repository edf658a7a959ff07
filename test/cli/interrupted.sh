#!/bin/sh
# interrupted.sh -- leaves in the current folder what a run that was killed after step 12 leaves: r.csv.part with the records of 12 steps,
# and in d the checkpoints of steps 4 and 8. Arguments are further options of the run; none must be the first codec.
sh "$SRC"/test/cli/tiny.sh
atomo-train run --threads 1 --network softmax --dataset mnist -q --eval-freq 4 --max-steps 1000000 --train-dir d -o r.csv "$@" &
until [ "0$(grep -cs '' r.csv.part)" -gt 12 ] || ! kill -0 $!; do sleep 0.01; done
kill -9 $!
wait $! 2>/dev/null
head -n 13 r.csv.part >part
mv part r.csv.part
find d -name 'step_*.h5' | while read -r file; do
    step=${file##*_}
    [ "${step%.h5}" -le 8 ] || rm "$file"
done
