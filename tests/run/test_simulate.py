"""simulate(): one run from the start, with inputs that are constants or functions of time."""

import math
from typing import Any

import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile
from fmumbs.run import simulate
from fmumbs.run.simulate import times_of


def test_it_runs_the_models_default_experiment(cart: fm.Model) -> None:
    result = simulate(cart)
    assert_allclose(result.time, [0.1 * k for k in range(11)], atol=1e-15)
    assert result.name == "cart"
    outputs = [v.name for v in compile(cart).variables if v.causality == "output"]
    assert result.names == outputs


def test_a_constant_force_gives_a_parabola(image: ModelImage) -> None:
    result = simulate(image, stop=2.0, interval=0.5, inputs={"J.f": 4.0})
    assert_allclose(result["J.q"], result.time**2, rtol=1e-12)
    assert_allclose(result["J.qd"], 2.0 * result.time, rtol=1e-12)


def test_a_function_is_held_over_each_interval(image: ModelImage) -> None:
    """A force of 2 N for a second, then none: x = 1/2, then 1/2 + (t - 1)."""
    result = simulate(image, stop=3.0, interval=0.5, inputs={"J.f": lambda t: 2.0 if t < 1.0 else 0.0})
    assert_allclose(result["J.qd"], [0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0], rtol=1e-12)
    assert_allclose(result["J.q"][-1], 2.5, rtol=1e-12)


def test_a_function_is_called_at_the_start_of_each_interval(image: ModelImage) -> None:
    asked: list[float] = []

    def force(t: float) -> float:
        asked.append(t)
        return 0.0

    simulate(image, stop=0.3, interval=0.1, inputs={"J.f": force})
    assert sorted(set(asked)) == [0.0, 0.1, 0.2]


def test_vectors_parameters_and_start_values_are_inputs_too(image: ModelImage) -> None:
    inputs = {"L.force": lambda t: (8.0, 0.0, 0.0), "cart.mass": 4.0, "J.q": 1.0, "J.qd": 3.0}
    result = simulate(image, stop=1.0, inputs=inputs, outputs=["J.q", "cart.r"])
    assert_allclose(result["J.q"], 1.0 + 3.0 * result.time + result.time**2, rtol=1e-12)
    assert result["cart.r"].shape == (11, 3)


def test_a_parameter_may_be_a_function(image: ModelImage) -> None:
    inputs = {"J.f": 1.0, "cart.mass": lambda t: 1.0 if t < 0.5 else 2.0}
    result = simulate(image, stop=1.0, interval=0.25, inputs=inputs, outputs=["J.qdd"])
    assert_allclose(result["J.qdd"], [1.0, 1.0, 1.0, 0.5, 0.5], rtol=1e-14)


def test_outputs_are_kept_by_name_with_their_units(image: ModelImage) -> None:
    result = simulate(image, outputs=["J.q", "S.w", "cart.v[1]"])
    assert result.names == ["J.q", "S.w[1]", "S.w[2]", "S.w[3]", "cart.v[1]"]
    assert result.units == {"J.q": "m", "S.w[1]": "rad/s", "S.w[2]": "rad/s", "S.w[3]": "rad/s", "cart.v[1]": "m/s"}
    assert simulate(image, outputs=[]).names == []


def test_the_integration_is_chosen(image: ModelImage) -> None:
    counts = simulate(image, stop=0.1, scheme="rk4", step=0.001, outputs=["solver.steps"])["solver.steps"]
    assert counts[-1] == 100
    close, rough = (simulate(image, stop=5.0, tolerance=t, outputs=["S.q"])["S.q"][-1] for t in (1e-10, 1e-4))
    assert_allclose(rough, close, atol=1e-3)
    assert (rough != close).any()


def test_progress_is_told_a_hundred_times_and_changes_no_bit(image: ModelImage) -> None:
    done: list[float] = []
    shown = simulate(image, stop=0.4, interval=0.0004, progress=done.append)
    quiet = simulate(image, stop=0.4, interval=0.0004)
    assert done == [k / 100 for k in range(1, 101)]
    assert all((shown[name] == quiet[name]).all() for name in quiet.names)
    assert shown.motion is not None and quiet.motion is not None
    assert (shown.motion.positions == quiet.motion.positions).all()


def test_progress_goes_from_0_to_1(image: ModelImage) -> None:
    done: list[float] = []
    simulate(image, stop=0.4, interval=0.1, progress=done.append)
    assert_allclose(done, [0.25, 0.5, 0.75, 1.0])


@pytest.mark.parametrize(
    ("stop", "interval", "expected"),
    [
        (1.0, 0.25, [0.0, 0.25, 0.5, 0.75, 1.0]),
        (1.0, 0.4, [0.0, 0.4, 0.8, 1.0]),
        (1.0, 2.0, [0.0, 1.0]),
        (1.0, 1e12, [0.0, 1.0]),
        (0.3, 0.1, [0.0, 0.1, 0.2, 0.3]),
    ],
)
def test_times_end_at_the_stop(stop: float, interval: float, expected: list[float]) -> None:
    assert_allclose(times_of(stop, interval), expected, rtol=1e-15)
    assert times_of(stop, interval)[-1] == stop


# Wrong use -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stop": 0.0}, "simulate: stop is 0, but must be above zero"),
        ({"stop": math.inf}, "simulate: stop is inf, but must be finite"),
        ({"stop": "long"}, "simulate: stop is 'long', which is not a number"),
        ({"interval": -0.1}, "simulate: interval is -0.1, but must be above zero"),
        ({"outputs": "J.q"}, "outputs is 'J.q', which is not a list of names. Give ['J.q']."),
        ({"outputs": ["J.qq"]}, "'cart' has no variable 'J.qq'. The nearest name is 'J.q'."),
        ({"inputs": {"J.tau": 1.0}}, "'cart' has no variable 'J.tau'"),
        ({"inputs": {"J.f": (1.0, 2.0)}}, "'J.f' takes 1 numbers, not 2"),
        ({"inputs": {"L.force": lambda t: t}}, "'L.force' takes 3 numbers, not 1"),
        ({"inputs": {"J.f": lambda t: None if t else 0.0}}, "must be a finite number"),
        ({"inputs": {"J.q": lambda t: t}}, "'J.q' is a start value, which cannot be a function of time"),
        ({"inputs": {"J.qdd": 1.0}}, "computed and cannot be set"),
        ({"inputs": ["J.f"]}, "simulate: inputs is not a mapping"),
    ],
)
def test_wrong_use_is_reported(arguments: dict[str, Any], message: str, image: ModelImage) -> None:
    with pytest.raises(fm.SolverError) as caught:
        simulate(image, **arguments)
    assert message in str(caught.value)


def test_an_unknown_scheme_is_reported(image: ModelImage) -> None:
    with pytest.raises(fm.ModelError, match="Choose one of: dopri5, rk4, radau, auto"):
        simulate(image, scheme="euler")


def test_only_models_and_images_run() -> None:
    with pytest.raises(fm.ModelError, match="needs a Model"):
        simulate("pendulum")  # type: ignore[arg-type]


def test_the_message_about_a_narrowed_model_has_its_outputs(cart: fm.Model) -> None:
    cart.input("push", to="J.f")
    cart.output("place", of="J.q")
    assert_allclose(simulate(cart, inputs={"push": 4.0})["place"][-1], 1.0, rtol=1e-12)
    assert_allclose(simulate(cart, inputs={"J.f": 4.0}, outputs=["J.q"])["place"][-1], 1.0, rtol=1e-12)
    with pytest.raises(fm.SolverError, match=r"'cart' does not expose 'L\.force'\. Declare it"):
        simulate(cart, inputs={"L.force": (1.0, 0.0, 0.0)})


def test_a_failed_assembly_is_an_assembly_error(image: ModelImage) -> None:
    with pytest.raises(fm.AssemblyError, match="quaternion is zero"):
        simulate(image, inputs={"S.q": (0.0, 0.0, 0.0, 0.0)})
