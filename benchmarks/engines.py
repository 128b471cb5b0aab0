"""The engines side by side: fmumbs, Pinocchio, MuJoCo and code by CasADi, each given a Tree and a State.

The peers are C and C++ loops in peers/, compiled at run time for this processor against the headers of their PyPI
packages. A peer that is not installed is listed with the reason, and left out.
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import casadi_code
import numpy as np
import numpy.typing as npt
from common import HERE, BuildError, build_library
from trees import BALL, GRAVITY, ROD_COM, ROD_END, ROD_INERTIA, ROD_MASS, Floats, State, Tree, per_joint

import fmumbs as fm
from fmumbs.compiler import compile
from fmumbs.run import Solver

PEERS = HERE / "peers"
TREE_ALGORITHMS = ("pinocchio world", "pinocchio local")  # Pinocchio's, in the order of their variants
LOOP_ALGORITHMS = ("constraintDynamics", "lcaba")


class Unavailable(Exception):
    """An engine that is not installed, or does not build here."""


class Engine(Protocol):
    """One tree in one engine."""

    def evaluate(self, times: int) -> None:
        """Computes the accelerations `times` times at the state that was given."""

    def accelerations(self) -> Floats:
        """Of all joints, flat as in State.velocities [rad/s2]."""


# fmumbs ---------------------------------------------------------------------------------------------------


def to_model(tree: Tree, state: State) -> fm.Model:
    """The tree as a Model that starts in `state`, without its torques; bodies B0.., joints J0.., pins C0.."""
    model = fm.Model(tree.name, gravity=GRAVITY)
    bodies: list[fm.Body] = []
    starts = zip(per_joint(tree, state.positions, 4), per_joint(tree, state.velocities, 3), strict=True)
    for k, (q0, u0) in enumerate(starts):
        body = fm.Body(f"B{k}", mass=ROD_MASS, com=ROD_COM, inertia=ROD_INERTIA)
        parent = model.ground if tree.parent[k] < 0 else bodies[tree.parent[k]]
        hinge, upper_end = parent.at(*map(float, tree.hinge[k])), body.at(0, 0, 0)
        joint: fm.Joint
        if tree.joint[k] == BALL:
            joint = fm.Spherical(f"J{k}", hinge, upper_end, q0=q0.tolist(), u0=u0.tolist())
        else:
            axis = "xyz"[tree.joint[k]]
            joint = fm.Revolute(f"J{k}", hinge, upper_end, axis=axis, q0=float(q0[0]), u0=float(u0[0]))
        model.add(body, joint)
        bodies.append(body)
    for k, ((first, second), pin) in enumerate(zip(tree.closing, tree.pin, strict=True)):
        onto = model.ground if second < 0 else bodies[second]
        model.add(fm.Revolute(f"C{k}", bodies[first].at(*ROD_END), onto.at(*map(float, pin)), axis="y", cut=True))
    return model


class Fmumbs:
    """The solver that Python and an FMU share."""

    def __init__(self, tree: Tree, state: State) -> None:
        self.solver = Solver(compile(to_model(tree, state)))
        self.solver.assemble()
        for name, torque in zip(_names(tree, "tau", "tau"), state.torques, strict=True):
            self.solver.set(name, float(torque))
        self._names = _names(tree, "qdd", "alpha")

    def evaluate(self, times: int) -> None:
        self.solver.evaluate(times)

    def accelerations(self) -> Floats:
        return np.array([self.solver.get(name) for name in self._names])


def _names(tree: Tree, of_revolute: str, of_ball: str) -> list[str]:
    """Of the scalar variables of all joints, in order."""
    names: list[str] = []
    for k, kind in enumerate(tree.joint):
        names += [f"J{k}.{of_ball}[{i}]" for i in (1, 2, 3)] if kind == BALL else [f"J{k}.{of_revolute}"]
    return names


# The peers --------------------------------------------------------------------------------------------------


class _PeerTree(ctypes.Structure):
    """peer_tree of peers/peer.h."""

    _fields_ = (
        ("bodies", ctypes.c_int32),
        ("parent", ctypes.c_void_p),
        ("joint", ctypes.c_void_p),
        ("hinge", ctypes.c_void_p),
        ("com", ctypes.c_void_p),
        ("mass", ctypes.c_void_p),
        ("inertia", ctypes.c_void_p),
        ("loops", ctypes.c_int32),
        ("closing", ctypes.c_void_p),
        ("point", ctypes.c_void_p),
        ("gravity", ctypes.c_double * 3),
    )


class Peer:
    """A tree in an engine that answers peers/peer.h."""

    def __init__(self, library: ctypes.CDLL, variant: int, tree: Tree, state: State) -> None:
        self._library = library
        bodies, loops, self._dof = tree.bodies, len(tree.closing), len(state.velocities)
        arrays: list[npt.NDArray[np.generic]] = [
            tree.parent,
            tree.joint,
            np.ascontiguousarray(tree.hinge),
            np.tile(ROD_COM, (bodies, 1)),
            np.full(bodies, ROD_MASS),
            np.tile(ROD_INERTIA, (bodies, 1)),
            np.ascontiguousarray(tree.closing),
            np.stack([np.tile(ROD_END, (loops, 1)), tree.pin], axis=1),
        ]
        of_tree, of_loops = ([a.ctypes.data for a in part] for part in (arrays[:6], arrays[6:]))
        described = _PeerTree(bodies, *of_tree, loops, *of_loops, (ctypes.c_double * 3)(*GRAVITY))
        self._peer = library.peer_open(ctypes.byref(described), variant)
        if not self._peer:
            raise Unavailable(f"cannot hold {bodies} bodies")
        given = (state.positions, state.velocities, state.torques)
        library.peer_set(self._peer, *(array.ctypes.data for array in given))

    def __del__(self) -> None:
        if getattr(self, "_peer", None):
            self._library.peer_close(self._peer)

    def evaluate(self, times: int) -> None:
        self._library.peer_evaluate(self._peer, times)

    def accelerations(self) -> Floats:
        result = np.empty(self._dof)
        self._library.peer_accelerations(self._peer, result.ctypes.data)
        return result


def _open_library(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    pointer = ctypes.c_void_p
    library.peer_open.argtypes, library.peer_open.restype = (pointer, ctypes.c_int32), pointer
    library.peer_set.argtypes, library.peer_set.restype = (pointer,) * 4, None
    library.peer_evaluate.argtypes, library.peer_evaluate.restype = (pointer, ctypes.c_int64), None
    library.peer_accelerations.argtypes, library.peer_accelerations.restype = (pointer, pointer), None
    library.peer_close.argtypes, library.peer_close.restype = (pointer,), None
    return library


_BOOST_SETTINGS = (  # what Pinocchio's joint variants and visitors need of it
    "MPL_LIMIT_LIST_SIZE=30",
    "MPL_LIMIT_VECTOR_SIZE=30",
    "MPL_CFG_NO_PREPROCESSED_HEADERS",
    "FUSION_INVOKE_MAX_ARITY=12",
    "VARIANT_USE_RELAXED_GET_BY_DEFAULT",
)


def _pinocchio(source: str) -> Path:
    prefix = _package_folder("pin", "cmeel.prefix") / "include"
    for package, header in (("cmeel-eigen", "eigen3/Eigen/Core"), ("cmeel-boost", "boost/variant.hpp")):
        if not (prefix / header).exists():
            raise Unavailable(f"its headers need {package}: pip install {package}")
    flags = ["-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w"]
    flags += [f"-DBOOST_{setting}" for setting in _BOOST_SETTINGS]
    flags += ["-isystem", str(prefix), "-isystem", str(prefix / "eigen3")]
    return build_library(PEERS / source, ["g++", *flags])


def _mujoco() -> Path:
    folder = _package_folder("mujoco", "mujoco")
    shared = next(iter(sorted(folder.glob("libmujoco.so*"))), None)
    if shared is None:
        raise Unavailable(f"no libmujoco.so in {folder}")
    command = ["cc", "-std=c11", "-O3", "-march=native", f"-I{folder / 'include'}"]
    return build_library(PEERS / "mujoco.c", command, [str(shared), f"-Wl,-rpath,{folder}"])


def _by_casadi(tree: Tree, state: State) -> Peer:
    """A library for this tree alone."""
    try:
        path, sizes = casadi_code.generate(tree)
    except ValueError as reason:
        raise Unavailable(str(reason)) from None
    defined = [f"-D{name}={size}" for name, size in sizes.items()]
    command = ["cc", "-std=c11", "-O3", "-march=native", "-w", f'-DGENERATED="{path}"', *defined]
    return Peer(_open_library(build_library(PEERS / "casadi.c", command)), 0, tree, state)


def _package_folder(package: str, folder: str) -> Path:
    try:
        found = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        raise Unavailable(f"not installed: pip install {package}") from None
    return Path(str(found.locate_file(folder)))


# All of them ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tool:
    """An engine by name. A tool with several variants counts with its fastest."""

    name: str
    version: str
    variants: dict[str, Callable[[Tree, State], Engine]]


def find_tools(loops: bool = False) -> tuple[list[Tool], dict[str, str]]:
    """The available tools, fmumbs first, and the reason for each that is not.

    loops: tools that close loops, instead of those for trees only.
    """
    tools = [Tool("fmumbs", metadata.version("fmumbs"), {"fmumbs": Fmumbs})]
    missing: dict[str, str] = {}
    source, algorithms = ("pinocchio_loops.cpp", LOOP_ALGORITHMS) if loops else ("pinocchio.cpp", TREE_ALGORITHMS)
    for name, package, locate, variants in (
        ("pinocchio", "pin", partial(_pinocchio, source), algorithms),
        ("mujoco", "mujoco", _mujoco, ("mujoco",)),
    ):
        try:
            library = _open_library(locate())
        except (Unavailable, BuildError, OSError) as reason:
            missing[name] = str(reason)
        else:
            tools.append(Tool(name, metadata.version(package), _variants(library, variants)))
    if find_spec("casadi") is None:
        missing["casadi"] = "not installed: pip install casadi"
    else:
        tools.append(Tool("casadi", metadata.version("casadi"), {"casadi": _by_casadi}))
    return tools, missing


def _variants(library: ctypes.CDLL, names: tuple[str, ...]) -> dict[str, Callable[[Tree, State], Engine]]:
    def opener(variant: int) -> Callable[[Tree, State], Engine]:
        return lambda tree, state: Peer(library, variant, tree, state)

    return {name: opener(variant) for variant, name in enumerate(names)}
