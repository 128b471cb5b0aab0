"""What a page is given, against the result itself: forces, series, instants, and what is plotted at first."""

import base64
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

import fmumbs as fm
from fmumbs.compiler.layout import lib
from fmumbs.run import Result
from fmumbs.view import data, motion_of
from fmumbs.view.data import data_of


def values(field: dict[str, str]) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(field["data"]), f"<{field['type']}")


def chain(count: int = 2) -> fm.Model:
    """Rods on hinges and a ball; each next one is lighter, so that reactions decrease along it."""
    model = fm.Model("chain")
    place = model.ground.at()
    for i in range(count):
        rod = fm.Body.rod(f"b{i}", length=0.5 + 0.1 * i, mass=4.0 / (1 + i) ** 2, radius=0.02)
        joint = fm.Spherical if i == 1 else fm.Revolute
        model.add(rod, joint(f"J{i}", place, rod.base, **({} if i == 1 else {"axis": "y"})))
        place = rod.tip
    return model


def everything(model: fm.Model, stop: float = 0.2) -> Result:
    return fm.simulate(fm.compile(model, everything=True), stop=stop)


@pytest.mark.parametrize("joint", range(2))
@pytest.mark.parametrize("component", range(6))
@pytest.mark.parametrize("verdict", [lib.FM_UNIQUENESS_UNKNOWN, lib.FM_NOT_UNIQUE])
def test_a_reaction_force_is_unique_by_its_own_three_components(
    joint: int, component: int, verdict: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is known of the torque, and of the other joint."""
    result = everything(chain())
    motion = motion_of(result)
    verdicts = np.full((2, 6), lib.FM_UNIQUE, np.int32)
    verdicts[joint, component] = verdict
    monkeypatch.setitem(motion.image.arrays, "joint_unique", verdicts)
    found = {one["index"]: one["unique"] for one in data_of(result, motion)["forces"]}
    doubtful = None if verdict == lib.FM_UNIQUENESS_UNKNOWN else False
    assert found == {joint: doubtful if component < 3 else True, 1 - joint: True}


def test_reactions_are_those_of_the_result_the_largest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    result = everything(chain(4))
    forces = data_of(result, motion_of(result))["forces"]
    assert {one["kind"] for one in forces} == {"reaction"}
    assert sorted(one["index"] for one in forces) == [0, 1, 2, 3]
    sizes = []
    for one in forces:
        f = result[f"J{one['index']}.reaction.f"]
        assert_array_equal(values(one["f"]).reshape(-1, 3), f.astype(np.float32))
        sizes.append(np.abs(f).max())
    assert sizes == sorted(sizes, reverse=True)
    monkeypatch.setattr(data, "FORCE_BYTES", 2 * 3 * 4 * len(result.time))  # room for two
    few = data_of(result, motion_of(result))["forces"]
    assert [one["index"] for one in few] == [one["index"] for one in forces[:2]]
    monkeypatch.setattr(data, "FORCE_BYTES", 0)
    assert len(data_of(result, motion_of(result))["forces"]) == 1


def test_forces_that_are_always_zero_are_left_out() -> None:
    model = chain()
    model.gravity = (0.0, 0.0, 0.0)
    assert data_of(result := everything(model), motion_of(result))["forces"] == []


def test_series_have_the_values_and_units_of_the_result_at_the_shown_instants(monkeypatch: pytest.MonkeyPatch) -> None:
    result = everything(chain(), stop=0.5)
    monkeypatch.setattr(data, "LEAST_INSTANTS", 7)
    monkeypatch.setattr(data, "MOST_INSTANTS", 7)
    given = data_of(result, motion_of(result))
    times = values(given["times"])
    at = np.searchsorted(result.time, times)
    assert len(times) == 7 and at[0] == 0 and at[-1] == len(result.time) - 1
    assert np.ptp(np.diff(at)) <= 1  # evenly
    assert_array_equal(result.time[at], times)
    assert [one["name"] for one in given["series"]] == result.names
    assert {one["unit"] for one in given["series"]} > {"rad", "rad/s", "N", "m"}
    for one in given["series"]:
        assert one["unit"] == result.units.get(one["name"], "")
        assert_array_equal(values(one["values"]), result[one["name"]][at].astype(np.float32))


def test_of_many_series_coordinates_are_kept_then_rates_then_others(monkeypatch: pytest.MonkeyPatch) -> None:
    result = everything(chain(3))
    every = [one["name"] for one in data_of(result, motion_of(result))["series"]]
    coordinates = [name for name in every if name.split("[")[0].endswith(".q")]
    rates = [name for name in every if name.split("[")[0].endswith((".qd", ".u"))]
    solver = [name for name in every if name.startswith("solver.")]
    assert len(coordinates) == 6 and rates and solver
    room = 4 * len(result.time)
    ranks = {name: 0 if name in coordinates else 1 if name in rates else 3 if name in solver else 2 for name in every}
    for count in (1, len(coordinates), len(coordinates) + len(rates), len(every) - len(solver), len(every) - 1):
        monkeypatch.setattr(data, "SERIES_BYTES", count * room)
        kept = [one["name"] for one in data_of(result, motion_of(result))["series"]]
        assert len(kept) == count
        assert kept == [name for name in every if name in kept]  # in the result's order
        assert max(ranks[name] for name in kept) <= min((ranks[n] for n in every if n not in kept), default=3)


def test_the_first_plots_are_coordinates_that_move() -> None:
    model = chain(4)
    still = fm.Body("still", mass=1.0)
    model.add(still, fm.Prismatic("S", model.ground.at(0, 5, 0), still.at(), axis="x"))
    hardly = fm.Body("hardly", mass=1.0)  # moves by 5e-13 m, as by round-off
    H = fm.Prismatic("H", model.ground.at(0, 6, 0), hardly.at(), axis="x", tau=1e-12)
    slider = fm.Body("slider", mass=1.0)
    model.add(hardly, H, slider, fm.Prismatic("T", model.ground.at(0, 7, 0), slider.at(), axis="x", u0=1.0))
    result = everything(model)
    plots = data_of(result, motion_of(result))["plots"]
    moving = [name for name in result.names if name.split("[")[0].endswith(".q") and np.ptp(result[name]) > 0.0]
    assert "S.q" not in moving and "H.q" in moving
    assert plots == [[name] for name in moving if name != "H.q"][:3]


def test_plots_of_supports_come_last_and_quaternions_never() -> None:
    """A support that sags, a ball, and the arm that a user moves."""
    model = fm.Model("arm")
    feet, arm, bob = (
        fm.Body("feet", mass=1.0, inertia=(1, 1, 1)),
        *(fm.Body.rod(n, length=1.0, mass=1.0, radius=0.1) for n in "ab"),
    )
    model.add(feet, fm.Prismatic("F", model.ground.at(), feet.at(), axis="z", stiffness=1e4, damping=10.0))
    model.add(arm, fm.Revolute("A", feet.at(), arm.base, axis="y", u0=1.0))
    model.add(bob, fm.Spherical("S", arm.tip, bob.base, u0=(0.1, 0.2, 0.3)))
    result = everything(model)
    assert data_of(result, motion_of(result))["plots"] == [["A.q"], ["F.q"]]


def test_of_a_ball_alone_its_angular_velocity_is_plotted() -> None:
    model = fm.Model("ball")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, radius=0.1)
    model.add(rod, fm.Spherical("S", model.ground.at(), rod.base, u0=(0.1, 0.2, 0.3)))
    result = everything(model)
    assert data_of(result, motion_of(result))["plots"] == [["S.w[2]"], ["S.w[3]"], ["S.alpha[2]"]]  # it spins evenly


@pytest.mark.parametrize(
    ("count", "bodies", "shown", "wide"),
    [
        (1, 1, 1, True), (2, 0, 2, True), (1999, 1, 1999, True), (5000, 1, 2000, True), (5000, 9, 2000, False),
        (5000, 100, 321, False), (500, 100, 321, False), (321, 100, 321, False), (160, 100, 160, True),
        (161, 100, 161, False), (5000, 10_000, 60, False),
    ],
)  # fmt: skip
def test_as_many_instants_as_there_is_room_for(count: int, bodies: int, shown: int, wide: bool) -> None:
    """900 kB of seven numbers a body, of single precision if double does not fit; at least 60, at most 2000."""
    chosen, double = data._instants(count, bodies)
    assert (len(chosen), double) == (shown, wide)
    assert (chosen[0], chosen[-1]) == (0, count - 1)
    assert np.all(np.diff(chosen) > 0)


def test_the_largest_forces_are_of_their_kind() -> None:
    """A load that acts is measured while it does; one that nobody recorded has the size that the model gives it."""
    model = chain(1)
    tip = fm.Body("tip", mass=1.0, inertia=(1, 1, 1))
    model.add(tip, fm.Free("F", model.ground.at(), tip.at()))
    model.add(fm.Load("L", tip.at(), force=(0, 3, -4), torque=(0.6, 0, 0.8)))
    recorded = ["L.force", "L.torque", "J0.reaction.f"]
    inputs = {"L.force": lambda t: (0.0, 5.0 if t < 0.05 else 0.0, 12.0), "L.torque": (0.0, 2.0, 0.0)}
    result = fm.simulate(model, stop=0.1, interval=0.01, inputs=inputs, outputs=recorded)
    given = data_of(result, motion_of(result))
    assert [one["kind"] for one in given["forces"]] == ["reaction", "load", "torque"]
    assert given["largest"]["load"] == 13.0 and given["largest"]["torque"] == 2.0
    f = result["J0.reaction.f"]
    assert given["largest"]["reaction"] == pytest.approx(np.linalg.norm(f, axis=1).max())
    bare = data_of(result := fm.simulate(model, stop=0.1, outputs=["J0.q"]), motion_of(result))
    assert bare["largest"] == {"reaction": 0.0, "reaction torque": 0.0, "load": 5.0, "torque": 1.0, "contact": 0.0}
    assert bare["forces"] == []


def test_text_cannot_end_the_script_that_holds_it() -> None:
    assert data.as_json({"a": "</script><!-- &\u2028"}) == r'{"a":"\u003c/script\u003e\u003c!-- \u0026\u2028"}'
