"""What a host that corrects no drift integrates comes back to the constraints, in all rows at one rate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.compiler.layout import lib
from fmumbs.run.coordinates import Coordinates, pointer
from support.drawing.mechanism import Refused, draw
from support.host import Host
from support.sweeps import seeds

Array = NDArray[np.float64]

OFF = 1e-4  # of the nominal values: how far from the constraints
STEP = 1e-3  # of the time in which they come back at rest, in differences of fourth order
SAME = 1e-4  # of the violations' rates: what dependent rows leave open so far from the constraints
ALIKE = 1e-2  # of the rates of the decay: that of the moved velocities is another


def drawn(seed: int) -> Host:
    """A mechanism with loops."""
    try:
        solver = fm.Solver(draw(seed).model)
        solver.assemble()
    except (Refused, fm.FmumbsError) as reason:
        pytest.skip(f"no mechanism: {reason}")
    if not solver.image.sizes["rows"]:
        pytest.skip("no loop")
    return Host(solver)


def violations(host: Host, t: float, x: Array) -> Array:
    """(active rows, 2): of positions, and of velocities."""
    host.place(t, x)
    c = np.zeros((len(host.solver.active_rows), 2))
    lib.fm_violations(host.solver.instance, pointer(c), c.size)
    return c[host.solver.active_rows]


def moved(host: Host, rng: np.random.Generator, positions: bool, speeds: bool) -> Array:
    """The present state with other positions or speeds; quaternions of length one."""
    solver, image = host.solver, host.solver.image
    n = image.sizes["positions"]
    size, y = (np.zeros(n + image.sizes["speeds"] + image.sizes["bristles"]) for _ in range(2))
    lib.fm_tree_nominals(solver.instance, pointer(size), len(size))
    lib.fm_tree_state(solver.instance, pointer(y), len(y))
    off = OFF * size * rng.uniform(-1, 1, len(y))
    off[:n] *= positions
    off[n:] *= speeds
    y += off
    for at in Coordinates(image)._quaternions:
        y[at : at + 4] /= np.linalg.norm(y[at : at + 4])
    solver.call(lib.fm_set_tree_state, pointer(y))
    return host.x


def rates_of_violations(host: Host, x: Array, h: float) -> Array:
    """d/dt of them along the host's rates at time 0, by central differences."""
    rates = host.rates(0.0, x)
    at = [violations(host, s, x + s * rates) for k in (1, 2) for s in (k * h, -k * h)]
    return (8.0 * (at[0] - at[1]) - (at[2] - at[3])) / (12.0 * h)


@pytest.mark.parametrize("seed", seeds(10, 400, 1500000))
def test_violations_decay_at_one_rate(seed: int) -> None:
    """c' = c_t + J u less a c, and c'' = -a c': in every row the same a, no less than that of a mechanism at rest."""
    host, rng = drawn(seed), np.random.default_rng(seed)
    arrays, present = host.solver.image.arrays, host.x
    least = float(np.sqrt(np.linalg.norm(arrays["gravity"]) / arrays["length"][0]))
    if least == 0.0:
        pytest.skip("nothing says how fast")
    found = []
    for level in (0, 1):
        host.place(0.0, present)
        x = moved(host, rng, level == 0, level == 1)
        c = violations(host, 0.0, x)
        rate = rates_of_violations(host, x, STEP / least)
        falls = c[:, 1] - rate[:, 0] if level == 0 else -rate[:, 1]
        off = c[:, level] != 0.0  # not rows of velocities, at the level of positions
        if not off.any():
            continue
        falls, c = falls[off], c[off, level]
        a = falls @ c / (c @ c)
        assert_allclose(falls, a * c, rtol=0.0, atol=SAME * np.abs(falls).max())
        assert a > least * (1.0 - SAME)
        found.append(a)
    assert np.ptp(found or [0.0]) <= ALIKE * np.max(found, initial=0.0)
