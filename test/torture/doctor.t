# under limits on address space or data no command hangs
? ! nm -D "$(command -v atomo-bench)" | grep -q asan
$ for l in v d; do for k in 45000 70000 100000 120000 150000 220000 300000 400000 700000; do for c in --version 'compare '"$SRC"'/datasets/lenet-mnist.h5 -c svd --repeats 1 --step *200 -q -f csv'; do (ulimit -$l $k; timeout -s KILL 30 atomo-bench $c >o 2>e); [ $? != 137 ] || echo "ulimit -$l $k, $c: hangs"; done; done; done 2>&1 | grep hangs
= 1
