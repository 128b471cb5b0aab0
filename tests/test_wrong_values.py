"""Whatever stands for an argument of the public functions is taken, or refused by an FmumbsError of readable length."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.errors import FmumbsError

LONGEST = 800  # letters of a message: what is shown of a value is cut off, and a name may be as long as a line

_MODEL = fm.Model("m")
_A = fm.Body.rod("a", length=1.0, mass=1.0)
_B = fm.Body.rod("b", length=1.0, mass=1.0)
_HINGE = fm.Revolute("A", _MODEL.ground.at(), _A.base, axis="y", q0=0.3)
_ELBOW = fm.Revolute("B", _A.tip, _B.base, axis="y", q0=0.3)
_MODEL.add(_A, _B, _HINGE, _ELBOW)
_GROUND, _POINT, _TIP = _MODEL.ground.at(), _A.at(0, 0, 0), _B.tip
_PATH = fm.Path.sine(amplitude=0.1, frequency=1.0)
_STEEL, _BAR = fm.Material(2e11, 7800.0), fm.Section(1e-4, 1e-9, 1e-9, 2e-9)
_LAYER = fm.Layer([(0, 0, 0), (1, 0, 0), (0, 1, 0)], stiffness=1e5)

_SPHERE, _PLANE, _PRESS = fm.Sphere(_POINT, 0.1), fm.Plane(_GROUND), fm.Press(1e5)

# fmt: off
WRONG: tuple[Any, ...] = (
    None, "x", "", b"x", "ä" * 300, [], (), {}, set(), [1], ["x"], [None], [[1]], ["a"] * 3, [float("nan")] * 3,
    {"x": 1}, {1: 2}, {"A.q": "x"}, {"A.q": None}, 1, -1, 0, True, 2.5, float("inf"), float("nan"), 1j, 10**400,
    object(), iter([1]), range(3), np.array([1, 2]), np.array([[1.0, 2.0]]), np.zeros((0,)), np.array([object()]),
    lambda *k: None, _HINGE, _A, _GROUND, _MODEL, [_HINGE], [_A], [(_HINGE, 1)], _PATH, fm.Rotation(),
)
JOINTS = (
    fm.Bushing, fm.Cylindrical, fm.Free, fm.Planar, fm.PointOnLine, fm.PointOnPlane, fm.Prismatic, fm.Revolute,
    fm.Skate, fm.Spherical, fm.Universal, fm.Weld,
)
# fmt: on

_FLEXIBLE = {"material": _STEEL, "sections": {"a": _BAR}}
_SAMPLES = np.random.default_rng(0).random((4, 9, 2))


def _joint(cls: type, **more: Any) -> tuple[Callable[..., Any], dict[str, Any]]:
    return cls, {"name": "J", "F": _GROUND, "M": _POINT, **more}


_PROGRAM = {"name": "P", "point": _TIP, "cutoff": 0.0, "of": "position", "transition": 0.0, "drives": ()}


CALLS: Mapping[str, tuple[Callable[..., Any], Mapping[str, Any]]] = {
    **{cls.__name__: _joint(cls) for cls in JOINTS},
    "Joint": _joint(fm.Joint, modes=(fm.Turn("z"), fm.Slide("x"))),
    "Distance": _joint(fm.Distance, length=1.0),
    "RevoluteSpherical": _joint(fm.RevoluteSpherical, length=1.0),
    "Screw": _joint(fm.Screw, pitch=0.1),
    "Rolling": _joint(fm.Rolling, radius=0.5),
    "Body": (fm.Body, {"name": "c", "mass": 1.0, "inertia": (1, 1, 1), "points": {"p": (0, 0, 1)}, "color": "#8aa"}),
    "Body.rod": (fm.Body.rod, {"name": "c", "length": 1.0, "mass": 1.0}),
    "Body.at": (_A.at, {"x": 0.0, "y": 0.0, "z": 0.0, "rotation": None}),
    "ModalBody.beam": (fm.ModalBody.beam, {"name": "c", "length": 1.0, "mass": 1.0, "EI": 20.0}),
    "FlexibleLink": (fm.FlexibleLink, {"name": "c", "length": 1.0, "section": _BAR, "material": _STEEL, "elements": 3}),
    "Section": (fm.Section, {"area": 1e-4, "Iy": 1e-9, "Iz": 1e-9, "J": 2e-9}),
    "Material": (fm.Material, {"E": 2e11, "density": 7800.0, "poisson": 0.3, "damping": 0.0}),
    "FlexibleSupport": (fm.FlexibleSupport, {"name": "S", "F": _GROUND, "M": _POINT, "layers": [_LAYER]}),
    "Layer": (fm.Layer, {"points": [(0, 0, 0), (1, 0, 0)], "stiffness": 1e5, "damping": 1.0}),
    "Spring": (fm.Spring, {"name": "s", "P": _GROUND, "Q": _POINT, "stiffness": 1.0, "free_length": 0.1}),
    "Load": (fm.Load, {"name": "l", "P": _POINT, "force": (1, 0, 0), "torque": (0, 0, 1), "axes": "world"}),
    "Actuator": (fm.Actuator, {"name": "a", "P": _GROUND, "Q": _POINT, "force": 1.0}),
    "Cylinder": (fm.Cylinder, {"name": "c", "P": _GROUND, "Q": _POINT, "area_A": 1.0, "area_B": 1.0, "stroke": 1.0,
                               "closed_length": 1.0, "dead_volume_A": 1.0, "dead_volume_B": 1.0}),
    "Contact": (fm.Contact, {"name": "c", "A": _SPHERE, "B": _PLANE, "normal": _PRESS, "friction": None}),
    "Sphere": (fm.Sphere, {"at": _POINT, "radius": 1.0}),
    "Ellipsoid": (fm.Ellipsoid, {"at": _POINT, "half_axes": (1, 1, 1)}),
    "Capsule": (fm.Capsule, {"at": _POINT, "radius": 1.0, "length": 1.0}),
    "Box": (fm.Box, {"at": _POINT, "size": (1, 1, 1)}),
    "Hull": (fm.Hull, {"at": _POINT, "vertices": [(0, 0, 1)]}),
    "Plane": (fm.Plane, {"at": _GROUND}),
    "Disc": (fm.Disc, {"at": _POINT, "radius": 1.0, "thickness": None}),
    "Road": (fm.Road, {"at": _GROUND, "profile": ((0.0, 0.0), (1.0, 0.1))}),
    "Hollow": (fm.Hollow, {"at": _GROUND, "radius": 1.0}),
    "Press": (fm.Press, {"stiffness": 1.0, "exponent": 1.5, "restitution": 0.5, "speed": 1.0}),
    "Hertz": (fm.Hertz, {"E": 1e9, "nu": 0.3, "radius": 0.1, "damping": 0.1}),
    "Coulomb": (fm.Coulomb, {"mu": 0.3, "static": 0.4, "stribeck": 0.1, "stiffness": 1e5, "damping": 1.0,
                              "rolling_arm": 1e-3, "drilling_arm": 1e-3, "turning_stiffness": 1.0}),
    "Tyre": (fm.Tyre, {"name": "c", "A": fm.Disc(_POINT, 1.0), "B": _PLANE, "normal": _PRESS, "mu": 0.9,
                       "slip_stiffness": (1e4, 1e4), "relaxation": (0.1, 0.3), "damping": 10.0}),
    "Gear": (fm.Gear, {"name": "g", "A": _HINGE, "B": _ELBOW, "ratio": 2.0, "backlash": 0.1, "stiffness": 1.0}),
    "Motor": (fm.Motor, {"name": "m", "on": _HINGE, "resistance": 1.0, "inductance": 0.1, "constant": 1.0}),
    "Law": (fm.Law, {"name": "l", "on": _HINGE, "pieces": (fm.Piece([[0.0, 1.0]]),)}),
    "Law.brake": (fm.Law.brake, {"name": "l", "on": _HINGE, "force": 1.0}),
    "Stop": (fm.Stop, {"name": "l", "on": _HINGE, "lower": -1.0, "upper": 1.0, "stiffness": 10.0, "damping": 1.0}),
    "Piece": (fm.Piece, {"coefficients": [[0.0, 1.0]], "lower": -1.0, "upper": 1.0, "origin": 0.0}),
    "LuGre": (fm.LuGre, {"static": 0.2, "kinetic": 0.1, "stribeck": 0.01, "stiffness": 1e4, "preload": 1.0}),
    "Coupling": (fm.Coupling, {"name": "c", "terms": [(_HINGE, 1.0), (_ELBOW, -2.0)], "offset": 0.0}),
    "Cam": (fm.Cam, {"name": "c", "A": _HINGE, "B": _ELBOW, "profile": [(0, 0), (1, 1)], "phase": 0.1, "scale": 2.0}),
    "Path": (fm.Path, {"breaks": (0.0,), "coefficients": ((0.0, 1.0),), "continuity": 2, "period": 0.0}),
    "Path.sine": (fm.Path.sine, {"amplitude": 1.0, "frequency": 1.0}),
    "Path.spline": (fm.Path.spline, {"times": [0, 1, 2], "positions": [0, 1, 0]}),
    "Curve": (fm.Curve, {"paths": [_PATH, _PATH]}),
    "ProgrammedPoint": (fm.ProgrammedPoint, {**_PROGRAM, "path": [_PATH] * 2, "directions": "xz"}),
    "ProgrammedOrientation": (fm.ProgrammedOrientation, {**_PROGRAM, "path": [_PATH] * 3}),
    "ProgrammedJoint": (fm.ProgrammedJoint, {"name": "P", "joint": _HINGE, "path": _PATH, "drives": (_HINGE,)}),
    "ProgrammedLength": (fm.ProgrammedLength, {"name": "P", "P": _GROUND, "Q": _POINT, "path": 1.0, "transition": 0.0}),
    "Signal": (fm.Signal, {"times": [0, 1, 2], "values": [0, 1, 2], "interpolation": "linear"}),
    "Rotation": (fm.Rotation, {"matrix": np.eye(3)}),
    "Rotation.about": (fm.Rotation.about, {"axis": "x", "angle": 0.1}),
    "Transform": (fm.Transform, {"rotation": fm.Rotation(), "translation": (0, 0, 0)}),
    "SpatialInertia": (fm.SpatialInertia, {"mass": 1.0, "com": (0, 0, 0), "inertia": (1, 1, 1)}),
    "Turn": (fm.Turn, {"axis": "x", "role": "free", "value": 0.0, "path": None, "input": None}),
    "Slide": (fm.Slide, {"axis": "x", "role": "excited", "path": _PATH}),
    "Helix": (fm.Helix, {"axis": "x", "pitch": 0.1}),
    "Ball": (fm.Ball, {"role": "free"}),
    "Model": (fm.Model, {"name": "m", "gravity": (0, 0, -9.0), "description": "x"}),
    "System": (fm.System, {"name": "s", "stop": 1.0, "step": 0.1}),
    "mode_vectors": (fm.mode_vectors, {"joint": _HINGE, "p": [0.0]}),
    "compile": (fm.compile, {"model": _MODEL, "scheme": "dopri5", "starts": {"A.q": 0.1}, "equilibrium": None}),
    "Solver": (fm.Solver, {"model": _MODEL, "scheme": "dopri5", "tolerance": 1e-6, "correction": "direct"}),
    "Solver.get": (lambda name: fm.Solver(_MODEL).get(name), {"name": "A.q"}),
    "Solver.set": (lambda name, value: fm.Solver(_MODEL).set(name, value), {"name": "A.q", "value": 1.0}),
    "equilibrium": (fm.equilibrium, {"model": _MODEL, "locked": ["A", "B"]}),
    "linearize": (fm.linearize, {"model": _MODEL, "at": "start", "inputs": ["A.tau"], "outputs": ["A.q"]}),
    "steady": (fm.steady, {"model": _MODEL, "rates": {"A.qd": 0.0}}),
    "campbell": (fm.campbell, {"model": _MODEL, "name": "A.qd", "speeds": [0.0, 1.0]}),
    "inverse_dynamics": (fm.inverse_dynamics, {"model": _MODEL, "q": [0, 0], "u": [0, 0], "a": [0, 0]}),
    "mass_matrix": (fm.mass_matrix, {"model": _MODEL, "q": [0, 0]}),
    "point_jacobian": (fm.point_jacobian, {"model": _MODEL, "q": [0, 0], "point": _TIP}),
    "regressor": (fm.regressor, {"model": _MODEL, "q": [0, 0], "u": [0, 0], "a": [0, 0]}),
    "base_parameters": (fm.base_parameters, {"model": _MODEL, "samples": 10, "seed": 0}),
    "identify": (fm.identify, {"model": _MODEL, **dict(zip("qua", _SAMPLES[:3], strict=True)), "tau": _SAMPLES[3]}),
    "uniqueness": (fm.uniqueness, {"model": _MODEL}),
    "divide_and_conquer": (fm.divide_and_conquer, {"model": _MODEL, "tool": "svd"}),
    "make_flexible": (fm.make_flexible, {"model": _MODEL, "bodies": {"a": None}, **_FLEXIBLE}),
    "simulate": (fm.simulate, {"model": _MODEL, "stop": 0.02, "interval": 0.01, "outputs": ["A.q"]}),
    "read_urdf": (fm.read_urdf, {"path": "none.urdf", "base": "fixed", "packages": {}, "limits": "data"}),
    "Result.load": (fm.Result.load, {"path": "none.csv"}),
}

_AS_THEY_COME = {"kwargs", "options", "run", "motion", "progress", "look", "placed"}


def _arguments(function: Callable[..., Any], valid: Mapping[str, Any]) -> list[str]:
    kinds = inspect.signature(function).parameters
    named = [name for name, one in kinds.items() if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
    return [name for name in dict.fromkeys([*named, *valid]) if name not in _AS_THEY_COME]


def _message(function: Callable[..., Any], given: Mapping[str, Any], where: str) -> str:
    """That of the FmumbsError which the call raises, if it does."""
    try:
        function(**given)
    except FmumbsError as error:
        return str(error)
    except Exception as error:
        raise AssertionError(f"{where} raises {type(error).__name__}: {error}") from error
    return ""


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_value_is_refused_by_an_error_that_can_be_read(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    function, valid = CALLS[call]
    for argument in _arguments(function, valid):
        for wrong in WRONG:
            message = _message(function, {**valid, argument: wrong}, f"{call}({argument}={wrong!r:.60})")
            assert len(message) < LONGEST, message


@pytest.mark.parametrize("call", [name for name in CALLS if name not in ("read_urdf", "Result.load")])
def test_the_values_that_stand_for_right_ones_are(call: str) -> None:
    function, valid = CALLS[call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        message = _message(function, valid, call)
    assert not message or call in ("steady", "campbell"), message  # of a pendulum, whose energy depends on A.q
