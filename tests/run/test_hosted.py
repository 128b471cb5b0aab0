"""What the core does not give is an error, and never zeros or what was in memory: of loops that cannot be closed."""

from collections.abc import Callable

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler.independent import with_independent_states
from fmumbs.compiler.layout import lib, open_instance, values_of
from fmumbs.readers import read_model
from fmumbs.run.charts import Chart
from fmumbs.run.coordinates import pointer
from fmumbs.run.hosted import Hosted


def four_bar() -> fm.Solver:
    model = read_model("four_bar")
    model.input("torque", to="D.tau")
    solver = fm.Solver(with_independent_states(fm.compile(model)))
    solver.assemble()
    return solver


def hosted() -> Hosted:
    return Hosted(four_bar())


def chart() -> Chart:
    return Chart(four_bar())


ASKED: list[tuple[Callable[[], Hosted | Chart], Callable[..., object]]] = [
    (hosted, Hosted.state),
    (chart, Chart._violations),
]


@pytest.mark.parametrize(("make", "ask"), ASKED, ids=["state", "violations"])
def test_what_follows_from_no_closed_loop_is_refused(
    make: Callable[[], Hosted | Chart], ask: Callable[..., object]
) -> None:
    made = make()
    assert np.isfinite(ask(made)).all()  # type: ignore[call-overload]
    x = np.empty(2)
    lib.fm_get_continuous(made.solver.instance, pointer(x))
    x[0] += 2.5  # of a rocker's angle, which the crank does not reach
    made.solver.call(lib.fm_set_continuous, 0.0, pointer(x))
    with pytest.raises(fm.SolverError, match="the loops cannot be closed at the independent states"):
        ask(made)


def test_values_that_the_core_refuses_are_no_numbers() -> None:
    image = fm.compile(read_model("pendulum"))
    instance = open_instance(image.bytes)
    assert len(values_of(instance, np.arange(3))) == 3
    with pytest.raises(fm.ModelError, match="reference"):
        values_of(instance, np.array([10_000_000]))
