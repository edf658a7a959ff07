"""Writes SVHN's train_32x32.mat and test_32x32.mat of a folder as train.bin and test.bin, in the binary format of
CIFAR-10: of each image a byte for the label, then 3 x 32 x 32 bytes, row by row. The digit 0, which has the label 10,
becomes 0. fetch.sh calls this; it needs scipy.

    python3 datasets/svhn.py DIR
"""
import os
import sys

try:
    import numpy
    from scipy.io import loadmat
except ImportError as e:
    sys.exit(f"svhn.py: {e}: SVHN's files are MATLAB's, and converting them needs Python with scipy (pip install scipy)")

for part in ("train", "test"):
    path = os.path.join(sys.argv[1], part)
    mat = loadmat(path + "_32x32.mat")
    images = mat["X"].transpose(3, 2, 0, 1)
    labels = mat["y"].reshape(-1) % 10
    if images.shape != (len(labels), 3, 32, 32):
        sys.exit(f"svhn.py: {path}_32x32.mat: {len(labels)} labels and images of {images.shape}")
    with open(path + ".part", "wb") as f:
        f.write(numpy.hstack([labels[:, None], images.reshape(len(labels), -1)]).astype("u1").tobytes())
    os.replace(path + ".part", path + ".bin")
