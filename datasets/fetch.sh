#!/bin/sh
# fetch.sh -- downloads a data set's published files into datasets/NAME (or DIR), checks and unpacks them.
# Checksums of 64 digits are SHA-256, checksums of 32 digits MD5: for those files no better one was published.
set -eu

usage() {
    echo "usage: datasets/fetch.sh mnist|fashion-mnist|cifar10|cifar100|svhn|text [DIR]" >&2
    exit 2
}

files() {
    case $1 in
    mnist)
        base=https://ossci-datasets.s3.amazonaws.com/mnist
        cat <<END
$base/train-images-idx3-ubyte.gz 440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609
$base/train-labels-idx1-ubyte.gz 3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c
$base/t10k-images-idx3-ubyte.gz 8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6
$base/t10k-labels-idx1-ubyte.gz f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6
END
        ;;
    fashion-mnist)
        base=http://fashion-mnist.s3-website.eu-central-1.amazonaws.com
        cat <<END
$base/train-images-idx3-ubyte.gz 8d4fb7e6c68d591d4c3dfef9ec88bf0d
$base/train-labels-idx1-ubyte.gz 25c81989df183df01b3e8a0aad5dffbe
$base/t10k-images-idx3-ubyte.gz bef4ecab320f06d8554ea6380940ec79
$base/t10k-labels-idx1-ubyte.gz bb300cfdad3c16e7a12a480ee83cd310
END
        ;;
    cifar10)
        echo https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz \
            c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd
        ;;
    cifar100)
        echo https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz 03b5dce01913d631647c71ecec9e9cb8
        ;;
    svhn)
        base=http://ufldl.stanford.edu/housenumbers
        cat <<END
$base/train_32x32.mat 435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8
$base/test_32x32.mat cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b
END
        ;;
    text)
        echo https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt \
            86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed
        ;;
    *) usage ;;
    esac
}

download() { # URL FILE
    if command -v curl >/dev/null; then
        curl -fL --retry 2 --connect-timeout 20 -o "$2" "$1"
    else
        wget -O "$2" "$1"
    fi
}

verify() { # FILE SUM NAME
    if [ ${#2} = 64 ]; then
        found=$(sha256sum "$1")
    else
        found=$(md5sum "$1")
        echo "$3: checked by MD5, which finds damage but not forgery: this script knows no SHA-256 of it"
    fi
    [ "${found%% *}" = "$2" ] && return
    echo "$3: its checksum is ${found%% *}, want $2" >&2
    return 1
}

[ $# = 1 ] || [ $# = 2 ] || usage
list=$(files "$1") || exit 2
dir=${2:-$(dirname "$0")/$1}
mkdir -p "$dir"
echo "$list" | while read -r url sum; do
    name=${url##*/}
    if [ ! -f "$dir/$name" ]; then
        download "$url" "$dir/$name.part" </dev/null || {
            rm -f "$dir/$name.part"
            echo "$url: cannot be downloaded. Where there is a network, get it, put it into $dir and run this again." >&2
            exit 1
        }
        mv "$dir/$name.part" "$dir/$name"
    fi
    verify "$dir/$name" "$sum" "$dir/$name" || {
        echo "delete it and run this again" >&2
        exit 1
    }
    case $name in *.tar.gz) tar -xzf "$dir/$name" -C "$dir" --strip-components=1 --no-same-owner ;; esac
done
if [ "$1" = svhn ] && { [ ! -f "$dir/train.bin" ] || [ ! -f "$dir/test.bin" ]; }; then
    python3 "$(dirname "$0")/svhn.py" "$dir"
fi
echo "$dir: ready"
