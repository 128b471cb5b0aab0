"""The four numerical tools for a multijoint connection: which multipliers of G lambda = h are unique.

G is symmetric, m by m; T are the columns of the examined element, R all others. Each tool decides whether the element
is unique (first step) and whether its components are (second step).

    rank comparison  rank(G_T) + rank(G_R) = rank(G)                      (26, 27)
    QR               G' E = Q R,      B = G_T Q_T, its last m - r columns are zero       (28 to 37)
    SVD              G = U S V',      B = G_T V_T, its last m - r columns are zero       (38 to 44)
    null space       G N = 0,         G_T N_T = 0                          (45 to 51)

Second step: G_T has full rank; for the null space, the rows N_T are zero.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fmumbs.analysis.placed import Array
from fmumbs.errors import ModelError

ToolName = Literal["rank", "qr", "svd", "nullspace"]

FLOOR, CEILING = 1e-14, 1e-8  # the widest gap between them decides what is zero; G has squared singular values
ZERO = 1e-6  # entries of unit columns below this are zero


@dataclass(frozen=True)
class Verdict:
    """The verdict of a tool; evidence: the ranks r, r_T, r_R, or the matrix that must be zero."""

    unique: bool
    components_unique: bool
    tool: ToolName
    evidence: Any


def examine(G: Array, element: Sequence[int], tool: ToolName = "svd") -> Verdict:
    """The verdict of a tool on the multipliers in `element`. Raises ModelError for an unknown tool."""
    if tool not in TOOLS:
        raise ModelError(f"numerical tool {tool!r} is unknown. Choose one of {', '.join(get_args(ToolName))}.")
    scale = np.sqrt(np.maximum(np.diag(G), 1e-300))
    balanced = G / np.outer(scale, scale)
    return TOOLS[tool](balanced, list(element))


def count(values: NDArray[np.floating[Any]], floor: float = FLOOR, ceiling: float = CEILING) -> int:
    """Number of values that are not zero, in descending order: those before the widest gap below the ceiling."""
    if not values.size or not values[0] > 0.0:
        return 0
    parts = np.maximum(values / values[0], floor)
    sure = int(np.sum(parts > ceiling))
    edges = np.append(parts[max(sure - 1, 0) :], floor)
    gaps = edges[:-1] / edges[1:]
    return max(sure, 1) + int(np.argmax(gaps))


def rank(matrix: Array) -> int:
    """The rank, by singular values."""
    return count(np.linalg.svd(matrix, compute_uv=False)) if matrix.size else 0


def _rank_comparison(G: Array, element: list[int]) -> Verdict:
    r, r_T, r_R = (rank(part) for part in (G, G[:, element], np.delete(G, element, axis=1)))
    return Verdict(r_T + r_R == r, r_T + r_R == r and r_T == len(element), "rank", (r, r_T, r_R))


def _qr(G: Array, element: list[int]) -> Verdict:
    from scipy.linalg import qr

    Q, R, _ = qr(G.T, pivoting=True)
    return _vanishing(G, element, Q, count(np.abs(np.diag(R))), "qr")


def _svd(G: Array, element: list[int]) -> Verdict:
    _, S, Vt = np.linalg.svd(G)
    return _vanishing(G, element, Vt.T, count(S), "svd")


def _vanishing(G: Array, element: list[int], basis: Array, r: int, tool: ToolName) -> Verdict:
    """The verdict by B of (35) or (43), whose columns after the rank must be zero."""
    B = G[:, element] @ basis[element]
    unique = bool(np.abs(B[:, r:]).max(initial=0.0) < ZERO)
    return Verdict(unique, unique and rank(G[:, element]) == len(element), tool, B[:, r:])


def _null_space(G: Array, element: list[int]) -> Verdict:
    N = null_space(G)
    unique = bool(np.abs(G[:, element] @ N[element]).max(initial=0.0) < ZERO)
    return Verdict(unique, unique and bool(np.abs(N[element]).max(initial=0.0) < ZERO), "nullspace", N)


def null_space(G: Array) -> Array:
    """(m, m - r) orthonormal columns, from the eigenvectors of the symmetric G."""
    values, vectors = np.linalg.eigh(G)
    order = np.argsort(-np.abs(values))
    return np.asarray(vectors[:, order[count(np.abs(values[order])) :]])


TOOLS: dict[str, Callable[[Array, list[int]], Verdict]] = {
    "rank": _rank_comparison,
    "qr": _qr,
    "svd": _svd,
    "nullspace": _null_space,
}
