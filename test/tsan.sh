# tsan.sh BIN_DIRECTORY -- runs programs built with the thread sanitizer: every codec in `compare` and `merge`, and
# every codec and network in training, each with four threads. Fails at the first data race.
bin=$(cd "${1:?usage: tsan.sh BIN_DIRECTORY}" && pwd) || exit 2
work=$(mktemp -d "${TMPDIR:-/tmp}/atomo-tsan.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
SRC=$(cd "$(dirname "$0")/.." && pwd)
export SRC
cd "$work" && sh "$SRC"/test/cli/tiny.sh || exit 1
mkdir datasets/cifar10
for file in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch; do
    for label in 0 1 2 3 4 5 6 7; do
        printf "\\00$label"
        head -c 3072 "$SRC"/datasets/lenet-mnist.h5
    done >datasets/cifar10/$file.bin
done
failed=0 runs=0

run() {
    runs=$((runs + 1))
    "$@" -q --threads 4 --force >out 2>err && return
    failed=$((failed + 1))
    echo "FAILED: $*"
    head -n 40 err
}

"$bin"/atomo-bench synth --shape 300x230 --shape 66000 --workers 2 -q -o g.h5 >/dev/null || exit 1
codecs=$("$bin"/atomo-bench list -f csv | sed 's/,.*//; 1d')
specs=
for c in $codecs; do
    case $c in
    ef | ef21 | diana | induced | zstd | blosc) c=$c+topk ;;
    esac
    specs="$specs -c $c"
done
# shellcheck disable=SC2086  # lists of words
run "$bin"/atomo-bench compare g.h5 $specs --repeats 2 --metrics mse,variance,cosine,wasserstein -o r.csv
# shellcheck disable=SC2086
run "$bin"/atomo-bench merge g.h5 $specs --workers 2 --repeats 1 --metrics mse -o m.csv
# shellcheck disable=SC2086
run "$bin"/atomo-train run --network softmax --dataset mnist $specs --workers 2 --max-steps 2 --batch-size 32 -o t.csv
for n in 'cnn --dataset mnist' 'lenet --dataset mnist' 'fc --dataset mnist' gpt-nano 'resnet18 --dataset cifar10' 'vgg11 --dataset cifar10'; do
    # shellcheck disable=SC2086
    run "$bin"/atomo-train run --network $n -c qsgd --workers 2 --max-steps 2 --batch-size 4 --eval-freq 0 -o t.csv
done
echo "tsan: $runs runs, $failed failed"
[ $failed = 0 ]
