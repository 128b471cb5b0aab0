"""The four numerical tools for a multijoint connection: which multipliers of G lambda = h are unique.

G is symmetric, m by m; T are the columns of the element that is looked at, R all others. Each tool decides by itself
whether the element is unique (its first step) and whether its components are (its second step).

    rank comparison  rank(G_T) + rank(G_R) = rank(G)                      (26, 27)
    QR               G' E = Q R,      B = G_T Q_T, its last m - r columns are zero       (28 to 37)
    SVD              G = U S V',      B = G_T V_T, its last m - r columns are zero       (38 to 44)
    null space       G N = 0,         G_T N_T = 0                          (45 to 51)

Second step: G_T has full rank; by the null space, the rows N_T are zero.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fmumbs.analysis.placed import Array
from fmumbs.errors import ModelError

ToolName = Literal["rank", "qr", "svd", "nullspace"]

FLOOR, CEILING = 1e-14, 1e-8  # G squares: between them the widest gap decides what is zero
ZERO = 1e-6  # of unit columns


@dataclass(frozen=True)
class Told:
    """What a tool says of an element, and by what: its ranks r, r_T, r_R, or the matrix that has to vanish."""

    unique: bool
    components_unique: bool
    tool: ToolName
    evidence: Any


def examine(G: Array, element: Sequence[int], tool: ToolName = "svd") -> Told:
    """What one of the tools says of the multipliers in `element`; ModelError for a tool that does not exist."""
    if tool not in TOOLS:
        raise ModelError(f"there is no numerical tool {tool!r}. Choose one of {', '.join(get_args(ToolName))}.")
    scale = np.sqrt(np.maximum(np.diag(G), 1e-300))
    balanced = G / np.outer(scale, scale)
    return TOOLS[tool](balanced, list(element))


def count(values: NDArray[np.floating[Any]], floor: float = FLOOR, ceiling: float = CEILING) -> int:
    """How many of descending values are not zero: what is cut off lies behind the widest gap below the ceiling."""
    if not values.size or not values[0] > 0.0:
        return 0
    parts = np.maximum(values / values[0], floor)
    sure = int(np.sum(parts > ceiling))
    edges = np.append(parts[max(sure - 1, 0) :], floor)
    gaps = edges[:-1] / edges[1:]
    return max(sure, 1) + int(np.argmax(gaps))


def rank(matrix: Array) -> int:
    """By its singular values."""
    return count(np.linalg.svd(matrix, compute_uv=False)) if matrix.size else 0


def _rank_comparison(G: Array, element: list[int]) -> Told:
    r, r_T, r_R = (rank(part) for part in (G, G[:, element], np.delete(G, element, axis=1)))
    return Told(r_T + r_R == r, r_T + r_R == r and r_T == len(element), "rank", (r, r_T, r_R))


def _qr(G: Array, element: list[int]) -> Told:
    from scipy.linalg import qr

    Q, R, _ = qr(G.T, pivoting=True)
    return _vanishing(G, element, Q, count(np.abs(np.diag(R))), "qr")


def _svd(G: Array, element: list[int]) -> Told:
    _, S, Vt = np.linalg.svd(G)
    return _vanishing(G, element, Vt.T, count(S), "svd")


def _vanishing(G: Array, element: list[int], basis: Array, r: int, tool: ToolName) -> Told:
    """B of (35) or (43), of which the columns behind the rank have to vanish."""
    B = G[:, element] @ basis[element]
    unique = bool(np.abs(B[:, r:]).max(initial=0.0) < ZERO)
    return Told(unique, unique and rank(G[:, element]) == len(element), tool, B[:, r:])


def _null_space(G: Array, element: list[int]) -> Told:
    N = null_space(G)
    unique = bool(np.abs(G[:, element] @ N[element]).max(initial=0.0) < ZERO)
    return Told(unique, unique and bool(np.abs(N[element]).max(initial=0.0) < ZERO), "nullspace", N)


def null_space(G: Array) -> Array:
    """(m, m - r) orthonormal columns, from the eigenvectors of the symmetric G."""
    values, vectors = np.linalg.eigh(G)
    order = np.argsort(-np.abs(values))
    return np.asarray(vectors[:, order[count(np.abs(values[order])) :]])


TOOLS: dict[str, Callable[[Array, list[int]], Told]] = {
    "rank": _rank_comparison,
    "qr": _qr,
    "svd": _svd,
    "nullspace": _null_space,
}
