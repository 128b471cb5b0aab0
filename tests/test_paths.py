"""Every public function that takes a path takes a str and a Path, with one result."""

import inspect
import shutil
import webbrowser
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs import play, readers, view
from fmumbs.readers.reading import find_model
from fmumbs.system import open_system
from fmumbs.verify import not_executed, verify_fmu

PARTS = ("", "compiler", "export", "play", "readers", "run", "study", "system", "verify", "view")

URDF = """<robot name="arm"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="J" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""
MJCF = """<mujoco model="arm"><worldbody><body name="b"><joint name="J" axis="0 0 1"/>
<geom type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>"""
CORNERS = ("0 0 0", "1 0 0", "0 1 0", "0 0 1")
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def pendulum() -> fm.Model:
    model = fm.Model("pendulum")
    rod = fm.Body.rod("rod", length=1.0, mass=1.0)
    model.add(rod, fm.Revolute("A", model.ground.at(), rod.base, axis="y", q0=0.3))
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of every kind that is read."""
    at = tmp_path_factory.mktemp("paths")
    (at / "empty").mkdir()
    (at / "arm.urdf").write_text(URDF)
    (at / "arm.xml").write_text(MJCF)
    (at / "model.py").write_text(inspect.getsource(pendulum).replace("def pendulum", "import fmumbs as fm\ndef build"))
    (at / "inputs.csv").write_text("time,A.tau\n0,0\n0.1,1\n")
    facets = "".join(
        "facet normal 0 0 0 outer loop " + "".join(f"vertex {CORNERS[n]} " for n in face) + "endloop endfacet\n"
        for face in FACES
    )
    for file in (Path(__file__).parent / "readers/data/elements").glob("rod.*"):
        shutil.copy(file, at)
    (at / "solid.stl").write_text(f"solid s\n{facets}endsolid s\n")
    fm.export_fmu(pendulum(), at / "p.fmu")
    fm.compile(pendulum()).save(at / "p.image")
    result().save(at / "p.csv")
    system(at).save(at / "s.ssp")
    swept(out=at / "p.parquet")
    return at


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: True)


def opened(path: Any) -> object:
    with open_system(path) as system:
        return system.name


def system(at: Path) -> fm.System:
    whole = fm.System("s", stop=0.1, step=0.05)
    whole.add("p", at / "p.fmu")
    return whole


def with_fmu(path: Any) -> object:
    whole = fm.System("s", stop=0.1, step=0.05)
    whole.add("p", path)
    return type(whole.check())


def campbell() -> fm.Campbell:
    one = np.ones((2, 1))
    return fm.Campbell("m", "J.qd", np.array([0.0, 1.0]), 1j * one, one, (), (), np.array([True, True]))


def grown() -> fm.LoadPath:
    return fm.load_path(pendulum(), {"A.tau": 0.1}, steps=3)


def swept(**changed: Any) -> object:
    given: dict[str, Any] = {"target": "pendulum", "grid": {"A.tau": [0.0, 1.0]}, "stop": 0.1, "overwrite": True}
    return fm.sweep(**{**given, **changed}).varied


def elements(at: Path, **files: Any) -> list[float]:
    found: list[float] = fm.read_matrices(at / "rod.sti", **files).M.diagonal().tolist()
    return found


def result() -> fm.Result:
    return fm.simulate(pendulum(), stop=0.1, interval=0.05)


def ran(path: Any) -> list[float]:
    return play.run_model(pendulum(), play.Options(stop=0.1, inputs=path))["A.q"].tolist()


USES: dict[str, tuple[str, Callable[[Any, Path], object]]] = {
    "Body.from_mesh: path": ("solid.stl", lambda path, at: fm.Body.from_mesh(path, scale=1.0, mass=1.0).mass),
    "Campbell.plot: path": ("new.png", lambda path, at: campbell().plot(path=path, show=False) is None),
    "LoadPath.plot: path": ("new.png", lambda path, at: grown().plot(path=path) is None),
    "LinearModel.save: path": ("new.npz", lambda path, at: fm.linearize(pendulum()).save(path)),
    "Mesh.__init__: file": ("solid.stl", lambda path, at: fm.Mesh(path, scale=1.0).file),
    "ModalBody.from_mesh: path": ("solid.stl", lambda path, at: fm.ModalBody.from_mesh(path, scale=1.0, mass=1.0).mass),
    "Model.picture: path": ("new.png", lambda path, at: pendulum().picture(path) is None),
    "ModelImage.load: source": ("p.image", lambda path, at: fm.ModelImage.load(path).name),
    "ModelImage.save: path": ("new.image", lambda path, at: fm.compile(pendulum()).save(path)),
    "Options.__init__: inputs": ("inputs.csv", lambda path, at: ran(path)),
    "Result.animate: path": ("new.gif", lambda path, at: result().animate(path, fps=20.0)),
    "Result.load: path": ("p.csv", lambda path, at: fm.Result.load(path).names),
    "Result.plot: path": ("new.png", lambda path, at: result().plot(path=path) is None),
    "Result.save: path": ("new.mat", lambda path, at: result().save(path)),
    "Result.save_csv: path": ("new.csv", lambda path, at: result().save_csv(path)),
    "Sweep.__init__: path": ("p.parquet", lambda path, at: fm.Sweep(path).varied),
    "Sweep.plot: path": ("new.png", lambda path, at: fm.Sweep(at / "p.parquet").plot("end:A.q", path=path) is None),
    "System.add: fmu": ("p.fmu", lambda path, at: with_fmu(path)),
    "System.save: path": ("new.ssp", lambda path, at: system(at).save(path)),
    "View.open: path": ("new.html", lambda path, at: view.view_model(pendulum()).open(path)),
    "View.save: path": ("new.html", lambda path, at: view.view_model(pendulum()).save(path)),
    "animate: path": ("new.gif", lambda path, at: view.animate(result(), path, fps=20.0, speed=1.0)),
    "build_parameters: build": ("model.py", lambda path, at: list(readers.build_parameters(path)[0])),
    "export_casadi: path": ("new.c", lambda path, at: fm.export_casadi(pendulum(), path, library=False).x),
    "export_fmu: path": ("new.fmu", lambda path, at: fm.export_fmu(pendulum(), path)),
    "find_model: name": ("model.py", lambda path, at: find_model(path)),
    "not_executed: path": ("p.fmu", lambda path, at: not_executed(path)),
    "open_system: path": ("s.ssp", lambda path, at: opened(path)),
    "picture: path": ("new.png", lambda path, at: view.picture(pendulum(), path, show=False, names=None) is None),
    "plot: path": ("new.png", lambda path, at: play.plot(result(), path)),
    "read_built: name": ("model.py", lambda path, at: readers.read_built(path, None, fm.Model).name),
    "read_inputs: path": ("inputs.csv", lambda path, at: list(play.read_inputs(path))),
    "read_matrices: mass": ("rod.mas", lambda path, at: elements(at, mass=path)),
    "read_matrices: nodes": ("rod.inp", lambda path, at: elements(at, nodes=path)),
    "read_matrices: path": ("rod.sti", lambda path, at: fm.read_matrices(path).nodes.tolist()),
    "read_mjcf: folders": ("empty", lambda path, at: fm.read_mjcf(at / "arm.xml", folders=[path]).name),
    "read_mjcf: path": ("arm.xml", lambda path, at: fm.read_mjcf(path).name),
    "read_model: name": ("model.py", lambda path, at: readers.read_model(path).name),
    "read_urdf: path": ("arm.urdf", lambda path, at: fm.read_urdf(path).name),
    "replay: path": ("inputs.csv", lambda path, at: fm.replay(pendulum(), path)["A.q"].tolist()),
    "run_fmu: path": ("p.fmu", lambda path, at: play.run_fmu(path, play.Options(stop=0.1))["A.q"].tolist()),
    "sweep: inputs": ("inputs.csv", lambda path, at: swept(inputs=path, out=at / "in.parquet")),
    "sweep: out": ("new.parquet", lambda path, at: swept(out=path)),
    "sweep: target": ("model.py", lambda path, at: swept(target=path, out=at / "of.parquet", grid={"A.tau": [0.0]})),
    "verify_fmu: path": ("p.fmu", lambda path, at: [finding.check for finding in verify_fmu(path)]),
}
"""By function and parameter: the file, which is there unless it is a new one, and what is done with it."""


def public() -> Iterator[tuple[str, Any]]:
    """Names and functions: those of the package and of its parts, and methods of their classes."""
    for part in PARTS:
        module = import_module(f"fmumbs.{part}" if part else "fmumbs")
        for name in module.__all__ if hasattr(module, "__all__") else ():
            thing = getattr(module, name)
            if inspect.isclass(thing):
                for method, call in inspect.getmembers(thing, callable):
                    if method == "__init__" or not method.startswith("_"):
                        yield f"{name}.{method}", call
            elif inspect.isroutine(thing):
                yield name, thing


def pathways() -> dict[str, set[str]]:
    """Parameters of a path, by function, with their annotations."""
    found: dict[str, set[str]] = {}
    for name, call in public():
        try:
            parameters = inspect.signature(call).parameters.values()
        except (ValueError, TypeError):
            continue
        for one in parameters:
            annotation = str(one.annotation)
            if any(word in annotation for word in ("PathLike", "pathlib", "str | Path")):
                found.setdefault(f"{name}: {one.name}", set()).add(annotation)
    return found


def test_no_public_function_asks_for_a_path_alone() -> None:
    refused = {where: kinds for where, kinds in pathways().items() if any("str" not in one for one in kinds)}
    assert not refused


def test_each_is_used_here() -> None:
    assert set(pathways()) == set(USES)


@pytest.mark.parametrize("which", USES)
def test_a_str_gives_what_a_path_gives(which: str, folder: Path) -> None:
    name, use = USES[which]

    def outcome(kind: Callable[[Path], Any]) -> object:
        path = folder / name
        if new := name.startswith("new"):
            path.unlink(missing_ok=True)
        try:
            found = use(kind(path), folder)
        except fm.FmumbsError as error:
            return type(error), str(error)
        assert path.exists()
        return None if new else found

    assert outcome(str) == outcome(Path)
