#!/usr/bin/env python3
"""plain_metrics.py -- computes the error metrics in a plain way from a gradient and its decoded repeats.

`errors(g, estimates)` takes one vector and its R estimates as float64, and returns a dictionary, with None for
metrics that do not exist. It is written from the definitions and shares no code with the library.
"""
import numpy as np
from scipy.stats import wasserstein_distance


def mean(values):
    values = [v for v in values if v is not None]
    return float(np.mean(values)) if values else None


def ratio(a, b):
    return None if a is None or b is None or b == 0 else float(a / b)


def element_errors(g, h):
    nonzero = g != 0
    size, error = np.abs(g), (h - g)
    relative = np.abs(error[nonzero]) / size[nonzero]
    bound = np.percentile(size, 95) if g.size else 0
    big = size[nonzero] > bound
    signed = -error[nonzero] / size[nonzero]
    return {
        "elem_error": relative.mean() if relative.size else None,
        "elem_error_big": relative[big].mean() if big.any() else None,
        "elem_error_small": relative[~big].mean() if (~big).any() else None,
        "elem_error_pos": signed[signed > 0].mean() if (signed > 0).any() else None,
        "elem_error_neg": -signed[signed < 0].mean() if (signed < 0).any() else None,
        "sign_agreement": (np.sign(h[nonzero]) == np.sign(g[nonzero])).mean() if nonzero.any() else None,
    }


def bias(g, estimates, energy):
    count, center = len(estimates), np.mean(estimates, axis=0)
    found = {"variance": None, "bias_ratio": None, "bias_z": None, "gain_z": None,
             "gain": ratio(center @ g, energy)}
    if count == 1:
        return found
    each = ((estimates - center)**2).sum(axis=0) / (count - 1)
    variance = each.sum()
    found["variance"] = variance
    if variance > 0:
        freedom = variance**2 / (each**2).sum()
        found["bias_ratio"] = count * ((center - g)**2).sum() / variance
        found["bias_z"] = (found["bias_ratio"] - 1) / np.sqrt(2 * count / ((count - 1) * freedom))
        spread = ratio((each * g**2).sum(), energy**2)
        if spread:
            found["gain_z"] = (found["gain"] - 1) / np.sqrt(spread / count)
    return found


def errors(g, estimates):
    g = np.asarray(g, np.float64).reshape(-1)
    estimates = np.array([np.asarray(h, np.float64).reshape(-1) for h in estimates])
    energy = g @ g
    squares = [((h - g)**2).sum() for h in estimates]
    found = {"mse": float(np.mean(squares)), "second_moment": float(np.mean([h @ h for h in estimates]))}
    found |= bias(g, estimates, energy)
    found["gain_l1"] = ratio(np.sign(g) @ np.mean(estimates, axis=0), np.abs(g).sum())
    found["relative_error"] = ratio(found["mse"], energy)
    found["rel_l2"] = None if found["relative_error"] is None else np.sqrt(found["relative_error"])
    found["rel_l1"] = mean([ratio(np.abs(h - g).sum(), np.abs(g).sum()) for h in estimates])
    found["cosine"] = mean([ratio(g @ h, np.sqrt(energy) * np.sqrt(h @ h)) for h in estimates])
    found["max_abs_error"] = float(np.abs(estimates - g).max()) if g.size else None
    found["density"] = mean([(h != 0).mean() for h in estimates]) if g.size else None
    found["wasserstein"] = wasserstein_distance(g, estimates[0]) if g.size else None
    each = [element_errors(g, h) for h in estimates]
    return found | {key: mean([e[key] for e in each]) for key in each[0]}
