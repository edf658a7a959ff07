# the records of a training run add up: simulated seconds are those of all parts so far, communication is that of a server on the link, and a target counts seconds and bytes up to the first test that reaches it
$ atomo-train run --threads 1 --network softmax --max-steps 12 --eval-freq 4 --batch-size 20 --workers 2 --topology ps --link alpha=1s,beta=1MB -c qsgd --target-accuracy 0.3,0.999 -q -o r.csv; awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } function near(a, b) { return (a - b) ^ 2 <= 1e-18 * b ^ 2 } $1 == "step" { sim += ($c["compute_ms"] + $c["encode_ms"] + $c["comm_ms"] + $c["decode_ms"]) / 1e3; bytes += $c["bytes_up"]; sums += near($c["sim_seconds"], sim); link += near($c["comm_ms"], 2000 + 2 * ($c["bytes_up"] + $c["bytes_down"]) / 1e3); if (!reached && $c["test_accuracy"] >= 0.3) { reached = $c["step"]; at = sim; sent = bytes } } $1 == "summary" { print "steps", sums, link; print "run", near($c["sim_seconds"], sim), near($c["bytes_up"], bytes); print "target", (reached > 0), ($c["steps_to_0.3"] == reached), near($c["sim_seconds_to_0.3"], at), near($c["bytes_to_0.3"], sent); print "never", ($c["steps_to_0.999"] == "") }' r.csv
> steps 12 12
> run 1 1
> target 1 1 1 1
> never 1
= 0

# a target is reached by a test that equals it
$ sh $SRC/test/cli/tiny.sh; t="--threads 1 --network softmax --dataset mnist --max-steps 8 --eval-freq 8 --batch-size 20 -q"; atomo-train run $t -o r.csv; a=$(awk -F, '$1 == "step" && $8 != "" { print $8 }' r.csv); atomo-train run $t --target-accuracy $a -f csv | awk -F, '$1 == "summary" { print $8, $18 }' | sed "s/^$a /equal /"
> equal 8
= 0

# tune holds out a share of the training images
$ sh $SRC/test/cli/tiny.sh; atomo-train tune --threads 1 --network softmax --dataset mnist --max-steps 1 --points 1 --validation-share 0.25 -q -f json | grep '"images"'
>   "images": 450,
= 0
