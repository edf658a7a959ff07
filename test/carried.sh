#!/bin/sh
# carried.sh write BIN FOLDER       makes files in a new FOLDER: a dump in every format, a container of each codec, the checkpoints of a short training
# carried.sh read BIN FOLDER OUT    reads these files, and writes into a new folder OUT the tensors that BIN has read and the losses of the checkpoints
# carried.sh compare OUT OUT        fails unless two processors have read the same
# test/cpus.sh has files written on one processor and read on another. Tensors are compared as safetensors, little-endian on every processor.
set -eu
bench=$2/atomo-bench train=$2/atomo-train

# Every codec once, a wrapper around a codec that it takes.
specs() {
    "$bench" list -f csv | sed 1d | cut -d, -f1 | sed 's/^ef$/ef+topk/; s/^ef21$/ef21+topk/; s/^diana$/diana+qsgd/; s/^induced$/induced:with=qsgd+topk/
        s/^zstd$/zstd+none/; s/^blosc$/blosc+none/; s/^joint$/joint+entry/'
}

case $1 in
write)
    mkdir -p "$3"
    "$bench" synth -o "$3/dump.h5" -q --law laplace --shape 64x48 --shape 100 --steps 2 >"$3.log"
    for format in safetensors npz; do "$bench" convert "$3/dump.h5" "$3/copy.$format" -q >>"$3.log"; done
    for spec in $(specs); do "$bench" encode "$3/dump.h5" -c "$spec" -o "$3/$spec.atomo" -q >>"$3.log"; done
    "$train" run --network gpt:layers=1,heads=1,width=16,context=16 --dataset babble --max-steps 4 --eval-freq 2 --workers 2 -c ef+topk -q --train-dir "$3/run" >>"$3.log"
    ;;
read)
    mkdir -p "$4"
    for file in "$3"/*.* "$3"/run/*.h5; do
        name=${file##*/}
        case $name in
        *.atomo)
            "$bench" decode "$file" -o "$4/decoded.h5" --force -q >"$4.log"
            "$bench" convert "$4/decoded.h5" "$4/${name%.atomo}.safetensors" -q >>"$4.log" && rm "$4/decoded.h5"
            ;;
        *) "$bench" convert "$file" "$4/$name.safetensors" -q >"$4.log" ;;
        esac
    done
    "$train" eval --train-dir "$3/run" -q -f csv | cut -d, -f1,4 >"$4/losses.csv"
    ;;
compare)
    exact=0 near=0 far=0
    [ "$(ls "$2")" = "$(ls "$3")" ] || { echo "carried: FAILED: $2 and $3 have files of other names"; exit 1; }
    for file in "$2"/*; do
        other=$3/${file##*/}
        if cmp -s "$file" "$other"; then
            exact=$((exact + 1))
            continue
        fi
        case ${file##*/} in
        svd.* | fourier.* | dct.* | step_* | losses.csv) ;; # they round as BLAS and FFTW do on the processor
        *)
            far=$((far + 1))
            echo "carried: ${file##*/}: FAILED: $other differs"
            continue
            ;;
        esac
        if python3 - "$file" "$other" <<'END'; then
import struct, sys

def floats(path):
    data = open(path, "rb").read()
    if path.endswith(".csv"):
        return [float(word) for line in data.decode().splitlines()[1:] for word in line.split(",")]
    size = int.from_bytes(data[:8], "little")
    return list(struct.unpack(f"<{(len(data) - size - 8) // 4}f", data[8 + size:]))

a, b = (floats(path) for path in sys.argv[1:])
sys.exit(len(a) != len(b) or max(abs(x - y) for x, y in zip(a, b)) > 1e-5 * max(map(abs, a)))
END
            near=$((near + 1))
            echo "carried: ${file##*/}: equal up to rounding"
        else
            far=$((far + 1))
            echo "carried: ${file##*/}: FAILED: $other differs"
        fi
    done
    echo "carried: $exact files equal, $near up to rounding, $far differ"
    [ $far = 0 ] && [ $((exact + near)) -gt 0 ]
    ;;
esac
