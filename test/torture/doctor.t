# a warning about a limit on address space with which OpenBLAS could hang
? ! nm -D "$(command -v atomo-bench)" | grep -q asan
$ ulimit -v 3000000; atomo-bench doctor
> address space limit *3.07 GB *no *ulimit -v unlimited
= 0

# under limits on address space: a result, or one line that names what ran out; never a hang
? ! nm -D "$(command -v atomo-bench)" | grep -q asan
$ for v in 45000 70000 100000 150000 220000 300000 400000 700000; do for c in --version 'compare '"$SRC"'/datasets/lenet-mnist.h5 -c svd --repeats 1 --step *200 -q -f csv'; do (ulimit -v $v; timeout -s KILL 30 atomo-bench $c >o 2>e); r=$?; { [ $r = 0 ] || [ $r = 1 ] && [ "$(wc -l <e)" -ge 1 ]; } || echo "$v KiB, $c: code $r"; done; done
= 0

# a limit on threads and processes: one thread does the work
? [ "$(id -u)" = 0 ] && command -v setpriv && command -v prlimit && setpriv --reuid 65534 --clear-groups true && setpriv --reuid 65534 --clear-groups test -x "$(command -v atomo-bench)"
$ cp "$SRC"/datasets/lenet-mnist.h5 .; chmod 755 .; for u in 1 2 4 8; do timeout -s KILL 30 setpriv --reuid 65534 --clear-groups prlimit --nproc=$u atomo-bench compare lenet-mnist.h5 -c svd --repeats 1 --step '*200' -q -f csv >/dev/null 2>e; r=$?; [ $r = 0 ] || { [ $r = 1 ] && grep -q '^hint: .*ulimit -u' e; } || echo "$u processes: code $r"; done
>
= 0

# under limits on memory, files, processes, stack and sizes: a result, or one line that names the limit; never a hang
$ sh "$SRC"/test/limits.sh "$(dirname "$(command -v atomo-bench)")"
- FAILED*
= 0
