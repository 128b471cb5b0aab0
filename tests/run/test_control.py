"""simulate(control=...): a digital controller, against the sampled system in closed form."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import ModelImage
from fmumbs.run import simulate

Outputs = Mapping[str, Any]


def sampled(period: float, count: int, stiff: float, damp: float) -> np.ndarray:
    """(count + 1, 2) position and speed of 2 kg under f = -stiff x - damp v, sampled and held for each period."""
    states = [np.array([1.0, 0.0])]
    for _ in range(count):
        x, v = states[-1]
        a = (-stiff * x - damp * v) / 2.0
        states.append(np.array([x + v * period + a * period**2 / 2.0, v + a * period]))
    return np.array(states)


def law(t: float, outputs: Outputs) -> dict[str, float]:
    return {"J.f": -8.0 * outputs["J.q"] - 3.0 * outputs["J.qd"]}


@pytest.mark.parametrize("scheme", ["dopri5", "radau", "rk4"])
@pytest.mark.parametrize(("interval", "period"), [(0.1, None), (0.25, 0.1), (0.04, 0.1), (0.1, 0.1), (5.0, 0.1)])
def test_what_it_returns_is_held_over_the_sampling_time(
    image: ModelImage, interval: float, period: float | None, scheme: str
) -> None:
    found = simulate(
        image, stop=2.0, interval=interval, inputs={"J.q": 1.0}, control=law, control_interval=period, scheme=scheme
    )
    exact = sampled(0.1, 20, 8.0, 3.0)
    at = np.isclose(found.time / 0.1, np.round(found.time / 0.1))
    rows = np.round(found.time[at] / 0.1).astype(int)
    assert_allclose(found["J.q"][at], exact[rows, 0], atol=1e-9)
    assert_allclose(found["J.qd"][at], exact[rows, 1], atol=1e-9)
    force = -8.0 * exact[rows, 0] - 3.0 * exact[rows, 1]
    assert_allclose(found["J.qdd"][at], force / 2.0, atol=1e-8)  # as from that time on


def test_it_is_called_at_the_sampling_times_alone(image: ModelImage) -> None:
    called: list[float] = []
    simulate(image, stop=1.0, interval=0.3, control=lambda t, outputs: called.append(t), control_interval=0.125)
    assert_allclose(called, np.arange(9) * 0.125, atol=1e-12)
    called.clear()
    simulate(image, times=[0.2, 0.5], control=lambda t, outputs: called.append(t))
    assert called == [0.0, 0.2, 0.5]


def test_many_sampling_times_that_rounding_moves_are_each_met_once(image: ModelImage) -> None:
    called: list[float] = []
    simulate(image, stop=30.0, interval=0.1, control=lambda t, outputs: called.append(t), control_interval=0.1 / 3)
    assert len(called) == 901
    assert_allclose(called, np.arange(901) * 0.1 / 3, atol=1e-12)


def test_signals_and_control_act_together(image: ModelImage) -> None:
    """A ramp of F_x pushes while the controller takes away the force of its last sample."""
    ramp = fm.Signal([0.0, 1.0], [[0.0] * 3, [4.0, 0.0, 0.0]])
    found = simulate(
        image, stop=1.0, interval=0.5, inputs={"L.force": ramp}, control_interval=0.25,
        control=lambda t, outputs: {"J.f": -2.0 * outputs["J.qdd"] + (0.0 if t == 0 else outputs["J.f"])},
    )  # fmt: skip
    assert_allclose(found["J.qdd"], [0.0, 0.0, 0.0], atol=1e-12)
    assert found["J.qd"][-1] == pytest.approx(4 * (4.0 * 0.25**2 / 2.0) / 2.0, rel=1e-9)


def test_outputs_are_a_mapping_of_all_variables(image: ModelImage) -> None:
    seen: list[Any] = []

    def look(t: float, outputs: Outputs) -> None:
        seen[:] = [len(outputs), list(outputs), outputs["S.reaction.f"], outputs["cart.mass"]]

    simulate(image, stop=0.1, interval=0.1, outputs=["J.q"], control=look)
    assert seen[0] == len(seen[1]) == len([v for v in image.variables if v.causality == "output"])
    assert "S.q[1]" in seen[1]
    assert seen[2].shape == (3,)
    assert seen[3] == 2.0


def test_a_tunable_parameter_may_be_controlled(image: ModelImage) -> None:
    found = simulate(
        image, stop=1.0, interval=0.5, inputs={"J.f": 4.0}, control=lambda t, _: {"cart.mass": 2.0 if t < 0.4 else 4.0}
    )
    assert_allclose(found["J.qdd"], [2.0, 1.0, 1.0])
    assert "cart.mass" not in found.parameters
    assert "rod.mass" in found.parameters


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"control": lambda t, o: {"J.tau": 1.0}}, "control at t = 0 s: 'cart' has no variable 'J.tau'"),
        ({"control": lambda t, o: {"J.q": 1.0}}, "control at t = 0 s: 'J.q' is not an input"),
        ({"control": lambda t, o: {"J.f": o["J.qq"]}}, "control at t = 0 s: 'cart' has no variable 'J.qq'"),
        ({"control": lambda t, o: {"J.f": (1.0, 2.0)}}, "control at t = 0 s: 'J.f' takes 1 numbers, not 2"),
        ({"control": lambda t, o: 3.0}, "control at t = 0 s: it returns 3.0, which is not a mapping"),
        ({"control": lambda t, o: {3: 1.0}}, "control at t = 0 s: 3 is not a variable name"),
        ({"control": lambda t, o: {"J.f": math.nan}}, "control at t = 0 s"),
        (
            {"control": lambda t, o: {"L.force[1]": 1.0}, "inputs": {"L.force": (1.0, 0.0, 0.0)}},
            "'L.force[1]' is also given by inputs, as 'L.force'",
        ),
        (
            {"control": law, "inputs": {"J.f": ([0.0, 1.0], [0.0, 1.0])}},
            "control at t = 0 s: 'J.f' is also given by inputs, as 'J.f'",
        ),
        ({"control": lambda t: {}}, "control failed at t = 0 s with TypeError"),
        ({"control": 3}, "control is 3, which is not a function"),
        ({"control_interval": 0.1}, "control_interval needs control"),
        ({"control": law, "control_interval": 0.0}, "control_interval is 0, but must be above zero"),
        ({"control": law, "control_interval": 1e-12}, "exceeds 1e+08 calls"),
    ],
)
def test_wrong_use_is_reported(arguments: dict[str, Any], message: str, image: ModelImage) -> None:
    with pytest.raises(fm.SolverError) as caught:
        simulate(image, **arguments)
    assert message in str(caught.value)


def test_a_controller_that_fails_later_leaves_the_results_so_far(image: ModelImage) -> None:
    def fails(t: float, outputs: Outputs) -> dict[str, float]:
        return {"J.f": 1.0 / (0.3 - t) if t < 0.29 else 1 // 0}

    with pytest.raises(fm.SolverError, match=r"control failed at t = 0.3 s with ZeroDivisionError") as caught:
        simulate(image, stop=1.0, interval=0.1, control=fails)
    assert_allclose(caught.value.result.time, [0.0, 0.1, 0.2, 0.3])
    assert caught.value.time == pytest.approx(0.3)
