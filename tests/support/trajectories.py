"""Reads a trajectory file of Dymola or OpenModelica by its matrices, without the package: see Dymola's dsres.mat."""

from dataclasses import dataclass
from os import PathLike

import numpy as np
from scipy.io import loadmat


@dataclass(frozen=True)
class Variable:
    """One variable: its `block` is 1 for constants, 2 for time series, 0 for the time."""

    block: int
    description: str
    values: np.ndarray


def read_trajectories(path: str | PathLike[str]) -> dict[str, Variable]:
    """Every variable by its name, the time among them.

    Each row of dataInfo is a variable: its block k, then the row in data_k, with the sign of its values.
    """
    file = loadmat(path, chars_as_strings=False)
    assert text(file["Aclass"][3]) == "binTrans"
    found = {}
    for name, description, (block, row, *_) in zip(
        file["name"].T, file["description"].T, file["dataInfo"].T, strict=True
    ):
        values = np.sign(row) * file[f"data_{block or 2}"][abs(row) - 1]
        found[text(name)] = Variable(int(block), text(description), values)
    return found


def text(characters: np.ndarray) -> str:
    return "".join(characters).rstrip(" \0")
