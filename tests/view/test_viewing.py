"""Views of models and results: what they are given, what they refuse, and the bytes of the page."""

import base64
import hashlib
import json
import math
import re
import warnings
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fmumbs as fm
from fmumbs.readers import read_model
from fmumbs.run import Result
from fmumbs.view import View, motion_of, view_model, view_result
from fmumbs.view.data import as_json, data_of
from fmumbs.view.page import MODULES, THREE_SHA256, THREE_VERSION

MODELS = sorted(path.stem for path in (Path(__file__).parents[2] / "models").glob("*.py"))
MOST = 2_000_000  # bytes of a page


def given(view: View) -> dict[str, Any]:
    """The data in a page."""
    text = view.html.split('id="data">', 1)[1].split("</script>", 1)[0]
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_page(name: str) -> None:
    view = read_model(name, {}).view(stop=0)
    data = given(view)
    assert view.failure is None
    assert len(view.html) < MOST
    assert data["name"] == name
    assert len(data["scene"]["bodies"]) == len(read_model(name, {}).bodies)


def test_the_page_loads_nothing() -> None:
    html = read_model("pendulum", {}).view(stop=0).html
    outside = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r"(?:src|href)=\"(?!data:)", outside)
    own = "".join((files("fmumbs.view") / "page" / f"{name}.js").read_text() for name in MODULES)
    assert not re.search(r"https?://|fetch\(|XMLHttpRequest|innerHTML = [^\"t]|eval\(", own)


def test_three_is_the_pinned_version_and_has_its_licence() -> None:
    folder = files("fmumbs.view") / "page"
    assert hashlib.sha256((folder / "three.module.min.js").read_bytes()).hexdigest() == THREE_SHA256
    assert f'const t="{THREE_VERSION.split(".")[1]}"' in (folder / "three.module.min.js").read_text()[:400]
    assert "The MIT License" in (folder / "three.LICENSE.txt").read_text()


def test_the_same_model_gives_the_same_page() -> None:
    one, other = (read_model("four_bar", {}).view(stop=0.2) for _ in range(2))
    assert one.html == other.html


def test_a_result_shows_its_motion_also_if_declared_variables_alone_are_recorded() -> None:
    model = read_model("double_pendulum", {})
    model.output("angle", of="A.q")
    result = fm.simulate(model, stop=0.5)
    assert "A.q" not in result.names
    data = given(result.view())
    whole = given(read_model("double_pendulum", {}).view(stop=0.5))
    assert data["poses"] == whole["poses"]
    assert data["plots"] == [["angle"]]


def test_a_result_from_a_file_needs_its_model(tmp_path: Path) -> None:
    model = read_model("four_bar", {})
    result = fm.simulate(model, stop=0.3)
    loaded = fm.Result.load(result.save(tmp_path / "run.csv"))
    with pytest.raises(fm.SolverError, match=r"does not know its mechanism.*result\.view\(model\)"):
        loaded.view()
    assert given(loaded.view(model))["poses"] == given(result.view())["poses"]


@pytest.mark.parametrize("name", ["braked_rotor", "heavy_top", "double_pendulum", "flexible_four_bar"])
def test_coordinates_of_a_file_stand_where_the_run_had_them(name: str, tmp_path: Path) -> None:
    """Bit for bit; states of friction, which a file does not have, are no positions of bodies."""
    image = fm.compile(read_model(name, {}), everything=True)
    result = fm.simulate(
        image, stop=0.3, inputs={"shaft.tau": 1.0, "clutch.friction.normal": 2.0} if "rotor" in name else {}
    )
    found = motion_of(fm.Result.load(result.save(tmp_path / "run.csv")), image).positions
    assert result.motion is not None and np.ptp(result.motion.positions[:, -1]) > 0.0
    assert found.shape[1] == len(image.variables.positions())
    assert np.array_equal(found, result.motion.positions)


def test_a_mechanism_without_coordinates_has_its_motion(tmp_path: Path) -> None:
    model = fm.Model("stands")
    body = fm.Body("b", mass=1.0)
    model.add(body, fm.Weld("W", model.ground.at(1.0), body.at()))
    loaded = fm.Result.load(fm.simulate(model, stop=0.1).save(tmp_path / "run.csv"))
    assert motion_of(loaded, model).positions.shape == (len(loaded.time), 0)


def test_missing_coordinates_are_named(tmp_path: Path) -> None:
    model = read_model("double_pendulum", {})
    loaded = fm.Result.load(fm.simulate(model, stop=0.1, outputs=["A.q"]).save(tmp_path / "run.csv"))
    with pytest.raises(fm.SolverError, match=r"no coordinates B\.q of 'double_pendulum'"):
        loaded.view(model)
    bodies = [fm.Body(f"b{i}", mass=1.0) for i in range(9)]
    many = fm.Model("many")
    many.add(*bodies, *(fm.Prismatic(f"j{i}", many.ground.at(i), b.at()) for i, b in enumerate(bodies)))
    named = {f"j{i}.q" for i in range(9)}
    for count in range(2, 10):
        kept = sorted(named)[count:]
        loaded = fm.Result.load(fm.simulate(many, stop=0.1, outputs=kept or ["j0.qd"]).save(tmp_path / "run.csv"))
        with pytest.raises(fm.SolverError, match="of 'many', so its bodies cannot be placed") as caught:
            motion_of(loaded, many)
        told = re.findall(r"j\d\.q", str(caught.value))
        more = re.search(r" and (\d+) more", str(caught.value))
        assert told == sorted(named)[: len(told)] and 0 < len(told) <= 5
        assert len(told) + (int(more[1]) if more else 0) == count


@pytest.mark.parametrize("name", ["A.q", "A.reaction.f[2]", "solver.energy"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -1e300])
def test_a_number_that_cannot_be_drawn_is_named_with_its_time(name: str, value: float, tmp_path: Path) -> None:
    model = read_model("double_pendulum")
    run = fm.simulate(model, stop=0.05)
    columns = {one: np.array(run[one]) for one in run.names}
    columns[name][3] = value
    Result(run.name, run.time, columns, run.units).save(tmp_path / "a.csv")
    with pytest.raises(
        fm.SolverError, match=re.escape(f"'{name.split('[')[0]}' is {value:g} at 0.03 s, which cannot be drawn")
    ):
        view_result(Result.load(tmp_path / "a.csv"), model)


def test_inputs_may_have_the_names_of_declared_variables() -> None:
    model = read_model("pendulum", {})
    joint = model.joints[0].name
    model.input("motor", to=f"{joint}.tau")
    one = given(model.view(stop=0.3, inputs={"motor": 2.0}))
    other = given(view_model(fm.compile(model), stop=0.3, inputs={"motor": 2.0}))
    plain = given(read_model("pendulum", {}).view(stop=0.3, inputs={f"{joint}.tau": 2.0}))
    assert one["poses"] == other["poses"] == plain["poses"]


def test_a_run_that_fails_is_shown_as_far_as_it_came() -> None:
    model = read_model("pendulum", {})
    joint = model.joints[0].name

    def torque(t: float) -> float:
        if t > 0.2:
            raise ValueError("no torque </script><script>alert(1)</script> <!--")
        return 0.0

    with pytest.warns(UserWarning, match="is shown although"):
        view = model.view(stop=1, interval=0.01, inputs={f"{joint}.tau": torque})
    assert isinstance(view.failure, fm.SolverError)
    data = given(view)
    assert "The run ended at 0.21 s" in data["note"]
    assert "no torque </script>" in data["note"]
    assert view.html.count("</script>") == view.html.count("<script") == 3


def test_a_wrong_name_is_refused() -> None:
    with pytest.raises(fm.SolverError, match=r"no variable 'A\.tua'"):
        read_model("double_pendulum", {}).view(inputs={"A.tua": 1.0})


def test_loads_and_reactions_of_a_run_are_in_the_data() -> None:
    model = fm.Model("pushed")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0, radius=0.01)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y"), fm.Load("L", rod.tip, force=(0, 0, 3)))
    result = fm.simulate(fm.compile(model, everything=True), stop=0.1)
    pushed = given(model.view(stop=0.1, inputs={"L.force": lambda t: (0.0, 0.0, 40.0 * t)}))
    kinds = {one["kind"]: one for one in pushed["forces"]}
    assert set(kinds) == {"reaction", "load", "torque"}
    assert pushed["largest"]["load"] == pytest.approx(3.6)  # at the start of the last interval
    assert given(result.view())["largest"]["load"] == 3.0
    assert kinds["reaction"]["unique"] is True


def test_many_bodies_have_fewer_instants_and_less_precision() -> None:
    model = fm.Model("many", gravity=(0, 0, 0))
    bodies = [fm.Body(f"b{i}", mass=1.0) for i in range(300)]
    model.add(*bodies, *(fm.Prismatic(f"j{i}", model.ground.at(i), b.at(), u0=1.0) for i, b in enumerate(bodies)))
    result = fm.simulate(model, stop=5)
    data = data_of(result, motion_of(result))
    assert data["poses"]["type"] == "f4"
    assert len(as_json(data | {"live": None})) < MOST
    few = np.frombuffer(base64.b64decode(data["times"]["data"]))
    assert_allclose(few[[0, -1]], (0.0, 5.0))


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    view = read_model("pendulum", {}).view(stop=0)
    with pytest.raises(fm.SolverError, match=r"cannot write .*Choose another place"):
        view.save(tmp_path / "no" / "such" / "scene.html")
    assert view.save(tmp_path / "scene.html").read_text(encoding="utf-8") == view.html


def test_a_browser_opens_only_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    view = read_model("pendulum", {}).view(stop=0)
    view.save(tmp_path / "a.html")
    assert opened == []
    view.open(tmp_path / "a.html")
    assert opened == [(tmp_path / "a.html").as_uri()]


def test_an_open_loop_is_shown_at_its_start_values() -> None:
    model = fm.Model("open")
    A = fm.Body.rod("A", length=1.0, mass=1.0)
    model.add(A, fm.Revolute("P", model.ground.at(), A.base, axis="y", q0=0.3))
    model.add(fm.Spherical("Q", model.ground.at(5, 0, 0), A.tip))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = given(model.view())
    assert "do not fit together" in data["note"]
    assert data["forces"] == data["series"] == []
