# a stopped merge leaves the earlier result unchanged
$ atomo-bench synth -o g.h5 --shape 640x320 -q; echo earlier >x.csv; sh $SRC/test/cli/stop.sh TERM atomo-bench merge g.h5 -c qsgd -c svd -c topk --workers 4096 --repeats 1000 --force -o x.csv -q; echo $?; cat x.csv
> 130
> earlier
2> atomo-bench: g.h5: stopped with 0 of 6 records finished
= 0

$ atomo-bench merge --help
> usage: atomo-bench merge FILE.h5 [[]-c SPEC]...*
> *--workers LIST *
> *--noise X *
- *--resume*
= 0

# merge_ms and decode_each_ms are milliseconds: each of 8 payloads of 2 MB is read, below 1 TB/s, and all of it within the time of the program
? date +%s%N | grep -qv N
$ atomo-bench synth -o g.h5 --shape 1000x500 -q; s=$(date +%s%N); atomo-bench merge g.h5 -c none --workers 8 --repeats 1 -f csv -q >r.csv; e=$(date +%s%N); awk -F, -v all=$(((e - s) / 1000000)) 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } END { m = $c["merge_ms"]; d = $c["decode_each_ms"]; print (m > 0.016), (m <= all), (d > 0.016), (d <= all) }' r.csv
> 1 1 1 1
= 0
