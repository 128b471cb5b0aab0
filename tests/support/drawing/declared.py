"""Declared inputs, outputs and parameters at random."""

from __future__ import annotations

import numpy as np

import fmumbs as fm
from support.drawing.rebuilding import rebuilt

MOST = {"input": 3, "output": 8, "parameter": 3}


def declared(rng: np.random.Generator, model: fm.Model) -> fm.Model:
    """The model with some of its variables declared, so that it shows no others."""
    variables = fm.compile(model, everything=True).variables
    by_causality: dict[str, list[str]] = {causality: [] for causality in MOST}
    for name, causality in zip(variables.names(), variables.causalities(), strict=True):
        if causality in MOST and not name.startswith("solver."):
            by_causality[causality].append(name)
    made = rebuilt(model)
    for causality, names in by_causality.items():
        for k, i in enumerate(rng.permutation(len(names))[: MOST[causality]].tolist()):
            word = "to" if causality == "input" else "of"
            getattr(made, causality)(f"{causality[0]}{k}.shown", **{word: names[i]})
    return made


def shown_image(seed: int, model: fm.Model) -> fm.ModelImage:
    """The image of all variables, or of some that are declared."""
    rng = np.random.default_rng([seed, 3])
    return fm.compile(declared(rng, model) if rng.random() < 0.4 else model)
