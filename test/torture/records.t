# parts of a step are in milliseconds: decoding two payloads of 30 kB takes more than a microsecond, and all steps take less than the program
? date +%s%N | grep -qv N
$ s=$(date +%s%N); atomo-train run --threads 1 --network softmax --max-steps 4 --eval-freq 0 --batch-size 20 --workers 2 -c qsgd -q -o r.csv; e=$(date +%s%N); awk -F, -v all=$(((e - s) / 1000000)) 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $1 == "step" { n += $c["decode_ms"] > 0.001 && $c["encode_ms"] > 0.001 && $c["compute_ms"] > 0.001; t += $c["compute_ms"] + $c["encode_ms"] + $c["decode_ms"] } END { print n, (t <= all) }' r.csv
> 4 1
= 0
