"""Random mechanisms with every kind of elastic joint."""

from typing import Any

import numpy as np

import fmumbs as fm


def semidefinite(rng: Any, size: int, scale: float) -> Any:
    root = rng.uniform(-1, 1, (size, rng.integers(1, size + 1)))
    return scale * root @ root.T


def elastic(seed: int) -> fm.Model:
    """A sledge on springs, a body on a ball with matrices, one held by six springs, and a bushing between these two."""
    rng = np.random.default_rng(seed)
    model = fm.Model("elastic")
    sledge, arm, block = (fm.Body(name, mass=1.0, inertia=rng.uniform(0.1, 0.2, 3)) for name in ("a", "b", "c"))
    law = {"stiffness": rng.uniform(0, 20, 3), "damping": rng.uniform(0, 1, 3), "rest": rng.uniform(-1, 1, 3)}
    model.add(sledge, fm.Skate("skate", model.ground.at(), sledge.at(), q0=rng.uniform(-1, 1, 3), **law))
    K, D = semidefinite(rng, 3, 20.0), semidefinite(rng, 3, 2.0)
    model.add(arm, fm.Spherical("ball", sledge.at(0.2, 0.1, 0.3), arm.at(0, 0, 0.3), stiffness=K, damping=D))
    q = np.array((1.0, *rng.uniform(-0.2, 0.2, 3)))  # the angles of a bushing stay below 90 degrees
    start = (*rng.uniform(-1, 1, 3), *q / np.linalg.norm(q))
    six = {"stiffness": rng.uniform(0, 20, 6), "damping": rng.uniform(0, 2, 6)}
    model.add(block, fm.Free("free", model.ground.at(0, 0, 1), block.at(), q0=start, **six))
    full = {"stiffness_matrix": semidefinite(rng, 6, 10.0), "damping_matrix": semidefinite(rng, 6, 1.0)}
    model.add(fm.Bushing("mount", arm.at(0.1, 0, -0.3), block.at(0, 0.1, 0.2), **full))
    return model
