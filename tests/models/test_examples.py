"""The examples: each runs as a script and prints what it should."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scripts
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import fmumbs as fm
from support.scripts import load

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_as_a_script_without_warnings(name: str, results_of_examples: Path) -> None:
    """As the site runs it, where a warning is an error; its own checks are assertions."""
    assert scripts.output(name)
    assert scripts.pictures(name)


def test_which_reactions_can_be_trusted(tmp_path: Path) -> None:
    """In the plane all three models agree; across it the load acts on the pins that do not yield."""
    found, results = load(EXAMPLES / "which_reactions.py").main(tmp_path)
    pictures = ("stiff", "gives_way_at_B", "gives_way_at_C", "reactions")
    for name in pictures:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert [one.redundant for one in found.values()] == [3, 0, 0]
    assert {one.mobility for one in found.values()} == {1}
    stiff, at_B, at_C = results.values()
    for name in ("A.reaction.f[1]", "A.reaction.f[3]", "D.reaction.f[1]", "D.reaction.f[3]"):
        for other in (at_B, at_C):
            assert_allclose(other[name], stiff[name], rtol=0, atol=1e-3 * np.abs(stiff[name]).max())
    assert np.abs(at_C["A.reaction.t[1]"]).max() > 0.3
    assert np.abs(at_B["A.reaction.t[1]"]).max() < 1e-6


def test_programmed_motion_follows_the_path_and_shows_the_slow_root_of_baumgarte(tmp_path: Path) -> None:
    module = load(EXAMPLES / "programmed_motion.py")
    for name, results in module.main(tmp_path).items():
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        late = results["Sr_Lr_Jnf"].time >= module.EDGE
        for case in module.CASES:
            assert results[case]["E.violation"][late].max() <= 1e-9
        assert (tmp_path / f"{name}_differences.png").read_bytes().startswith(b"\x89PNG")
        slow = module.slow_root(*module.BAUMGARTE[name])
        assert_allclose(module.decay(results["Baumgarte"]), slow, rtol=0.02)
        for case in module.CASES:  # Fig 16: velocities are rates of the positions, to the interval's second order
            v = module.vector(results[case], "E.kappa")
            rates = np.gradient(module.vector(results[case], "E.position"), results[case].time, axis=0)
            assert_allclose(rates[1:-1], v[1:-1], rtol=0, atol=0.01 * np.abs(v).max())
    assert (tmp_path / "rpsup_tool.png").read_bytes().startswith(b"\x89PNG")
    shapes = module.deformation(results["Sr_Lfl_Jnf"])
    assert_allclose(shapes[:, [0, -1], 1:], 0.0, atol=1e-12)  # the chord's ends
    bend = np.linalg.norm(shapes[:, :, 1:], axis=2)
    assert 0.01 < bend.max() < 0.1 * shapes[0, -1, 0]
    assert np.all(bend[:, 2:4].max(axis=1) == bend.max(axis=1))  # in the middle of it


# Systems in two engines ------------------------------------------------------------------------------------

SAME = 1e-9  # of two engines, relative to the largest value of a variable


@pytest.mark.parametrize("name", ["arm_with_controller", "four_bar_speed_control", "crane_anti_sway"])
def test_mechanism_and_controller_run_to_the_same_numbers_in_both_engines(name: str, tmp_path: Path) -> None:
    module = load(EXAMPLES / f"{name}.py")
    results = module.main(tmp_path)
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    libcosim, fmpy = results["libcosim"], results["fmpy"]
    assert list(results) == ["libcosim", "fmpy"]
    assert libcosim.names == fmpy.names
    for variable in libcosim:
        scale = max(1.0, float(np.abs(libcosim[variable]).max()))
        assert_allclose(fmpy[variable], libcosim[variable], rtol=0, atol=SAME * scale, err_msg=variable)
    CONTROLLED[name](module, libcosim)


def the_arm_follows(module: Any, result: fm.Result) -> None:
    """The arm that the controller knows stays near the path, within what a step of delay does."""
    for i, joint in enumerate(("shoulder", "elbow"), 1):
        assert_allclose(result[f"arm.{joint}.q"], result[f"control.desired{i}"], rtol=0, atol=5e-3)
        assert result[f"arm.{joint}.q"][-1] == pytest.approx(module.END[i - 1], abs=1e-3)


def the_crank_turns_evenly(module: Any, result: fm.Result) -> None:
    speed = result["plant.A.qd"][result.time > 1.0]
    assert_allclose(speed, module.SETTINGS["setpoint"], rtol=0.1)
    assert result["plant.solver.position_violation"].max() < 1e-12


def the_load_hangs_still(module: Any, result: fm.Result) -> None:
    assert result["seeing.rail.q"][-1] == pytest.approx(module.DISTANCE, abs=1e-2)
    assert module.sway(result, "seeing") < 0.02 * module.sway(result, "blind")


CONTROLLED = {
    "arm_with_controller": the_arm_follows,
    "four_bar_speed_control": the_crank_turns_evenly,
    "crane_anti_sway": the_load_hangs_still,
}


def test_the_error_of_coupling_has_order_1_with_held_and_2_with_linear_inputs(tmp_path: Path) -> None:
    module = load(EXAMPLES / "coupling_study.py")
    errors = module.main(tmp_path)
    assert (tmp_path / "coupling.png").read_bytes().startswith(b"\x89PNG")
    for way, order in {"held": 1, "linear": 2, "repeated": 2}.items():
        assert module.orders(errors[way])[-2:] == pytest.approx([order] * 2, abs=0.08)
    assert errors["repeated"][-1] < errors["linear"][-1] < errors["held"][-1]


def test_halving_the_interval_of_a_road_lowers_the_error_by_the_order_of_its_interpolation() -> None:
    """Of the body's acceleration, against SciPy's integration of the same car over the road's own waves."""
    module = load(EXAMPLES / "quarter_car.py")

    def rates(t: float, y: np.ndarray) -> list[float]:
        z, dz, wheel, dwheel, body, dbody = y
        tyre, spring = 2e5 * (wheel - z), 2e4 * (body - wheel) + 1.5e3 * (dbody - dwheel)
        patch = module.PATCH**2 * (module.road(np.array([t]))[0] - z) - 2 * module.PATCH * dz
        return [dz, patch, dwheel, (spring - tyre) / 40.0, dbody, -spring / 400.0]

    run = solve_ivp(rates, (0.0, module.STOP), np.zeros(6), "DOP853", module.TIMES, rtol=1e-12, atol=1e-15)
    exact = np.array([rates(t, y)[5] for t, y in zip(run.t, run.y.T, strict=True)])
    assert np.abs(module.ride(2.5e-4, "cubic", 1e-12) - exact).max() < 1e-8
    for kind, order, intervals in (("hold", 1, (4e-3, 1e-3)), ("linear", 2, (4e-3, 1e-3)), ("cubic", 4, (2e-3, 1e-3))):
        coarse, fine = (np.abs(module.ride(h, kind) - exact).max() for h in intervals)
        found = np.log2(coarse / fine) / np.log2(intervals[0] / intervals[1])
        assert order - 0.15 < found < order + 0.5, kind
