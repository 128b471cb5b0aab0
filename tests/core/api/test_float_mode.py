"""The floating-point mode is the core's own within a call and the host's outside of it.

test_float_mode.c looks at every public call, and at the flags. Here are Python, an FMU's logger, and what the mode is
for: motions that decay along a chain from rest pass no numbers that take a processor a hundred times as long.
"""

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.readers import read_model
from fmumbs.run import Solver
from support.slave import ERROR, OK, Callbacks, Slave, unpacked_fmu

UPWARD = 0x800  # FE_UPWARD of x86

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.system() != "Linux", reason="fesetround() is called with x86's numbers"
)


@contextmanager
def rounding_upward() -> Iterator[Any]:
    """In the mode of a host that computes bounds; gives the function that returns the mode."""
    library = ctypes.CDLL("libm.so.6")
    assert library.fesetround(UPWARD) == 0
    try:
        yield library.fegetround
    finally:
        library.fesetround(0)


def history(image: fm.ModelImage) -> bytes:
    solver = Solver(image)
    solver.assemble()
    for t in (0.01, 0.013, 0.03):
        solver.step(t)
        solver.state_load(solver.state_save())  # which computes again what follows from the parameters
    return solver.read(np.arange(len(solver.image.variables), dtype=np.uint32)).tobytes() + solver.state_save()


@pytest.mark.parametrize("scheme", ["dopri5", "rk4", "dop853"])
@pytest.mark.parametrize("name", ["arm6", "heavy_top", "four_bar", "bennett", "gantry", "multi_loop_flexible"])
def test_bits_do_not_depend_on_the_rounding_of_the_host(name: str, scheme: str) -> None:
    image = compile(read_model(name), everything=True).with_options(scheme=scheme, step=0.002)
    expected = history(image)
    with rounding_upward() as mode:
        found = history(image)
        assert mode() == UPWARD
    assert found == expected


class Listening(Callbacks):
    """Notes the mode in which it is called."""

    def _log(self, _: Any, __: bytes, status: int, category: bytes, message: bytes) -> None:
        modes.append(ctypes.CDLL("libm.so.6").fegetround())


modes: list[int] = []


def test_logger_of_an_fmu_is_called_in_the_mode_of_the_host(tmp_path: Path) -> None:
    listening = Listening()
    slave = Slave(
        unpacked_fmu(tmp_path / "swing", read_model("pendulum")), logging=True, callbacks=ctypes.byref(listening.struct)
    )
    modes.clear()
    with rounding_upward() as mode:
        slave.start()
        assert slave.step(0.0, 0.1) == OK
        assert slave.step(0.5, 0.1) == ERROR
        assert slave.set("A.q", np.nan) == ERROR
        assert mode() == UPWARD
    assert len(modes) >= 3 and set(modes) == {UPWARD}
    slave.free()


@pytest.mark.parametrize("bodies", [500, 1500])
def test_no_number_of_a_chain_from_rest_is_subnormal(bodies: int) -> None:
    """The motion at the lower end decays by a factor from body to body."""
    solver = Solver(compile(read_model("branch_chain", {"bodies": bodies}), everything=True))
    solver.assemble()
    for t in (1e-3, 2e-3):
        solver.step(t)
    values = np.abs(solver.read(np.arange(len(solver.image.variables), dtype=np.uint32)))
    assert not np.any((values > 0.0) & (values < np.finfo(float).tiny))
    assert bodies < 1000 or np.any((values > 0.0) & (values < 1e-290))


@pytest.mark.parametrize("scheme", ["dopri5", "dop853", "radau", "rk4"])
def test_a_step_by_a_subnormal_time_ends(scheme: str) -> None:
    """In the core's mode it is zero, though the times differ."""
    solver = Solver(compile(read_model("pendulum")).with_options(scheme=scheme))
    solver.assemble(1e-300)
    for end in (1e-300 + 2e-313, 1e-300 + 4e-313, 1e-300 + 1e-310, 1e-3):
        solver.step(end)
        assert solver.time == end
