#!/usr/bin/env python3
"""waves.py -- the transforms of `dct` and `fourier`, in double precision from docs/FORMAT.md and numpy.

cosines(x), cosines_back(c)                 the cosine transform of a matrix, and its inverse
frequencies(rows, cols)                     (j, k, real) of every Fourier atom, in order
atoms(x), atoms_back(z, rows, cols)         the complex coefficients of a matrix, and the inverse
"""
import numpy as np
from scipy.fft import dctn, idctn


def cosines(x):
    return dctn(np.asarray(x, float), norm="ortho")


def cosines_back(c):
    return idctn(np.asarray(c, float), norm="ortho")


def frequencies(rows, cols):
    rows, cols = min(rows, cols), max(rows, cols)
    half = np.arange(rows // 2 + 1)
    edge = [np.stack([half, np.full(half.size, k)]) for k in ([0, cols // 2] if cols % 2 == 0 else [0])]
    middle = np.indices((rows, (cols - 1) // 2)).reshape(2, -1) + np.array([[0], [1]])
    j, k = np.concatenate([edge[0], middle, *edge[1:]], axis=1) if rows else np.zeros((2, 0), int)
    return j, k, (2 * j % max(rows, 1) == 0) & (2 * k % max(cols, 1) == 0)


def atoms(x):
    x = np.asarray(x, float)
    x = x.T if x.shape[0] > x.shape[1] else x
    j, k, real = frequencies(*x.shape)
    spectrum = np.fft.fft2(x) / np.sqrt(x.size)
    return spectrum[j, k] * np.where(real, 1, np.sqrt(2))


def atoms_back(z, rows, cols):
    j, k, real = frequencies(rows, cols)
    shape = min(rows, cols), max(rows, cols)
    spectrum = np.zeros(shape, complex)
    spectrum[j, k] = z / np.where(real, 1, np.sqrt(2))
    spectrum[-j % shape[0], -k % shape[1]] = np.conj(spectrum[j, k])
    x = np.fft.ifft2(spectrum).real * np.sqrt(rows * cols)
    return x.T if rows > cols else x


def gauge(z):
    """Returns the radius of the regular 64-gon around the origin that has z on an edge."""
    turn = np.angle(z) % (np.pi / 32)
    return np.abs(z) * np.cos(turn - np.pi / 64) / np.cos(np.pi / 64)
