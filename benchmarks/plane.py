"""A plane mechanism as the elements of constraint-jacobians, and the two ways to its Jacobian in C (jacobians.c)."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from common import HERE, build_library

import fmumbs as fm

BODY, PIN, SLIDE, FLEXIBLE = range(4)
ELEMENT = np.dtype(
    [(name, np.int32) for name in ("kind", "inboard", "first", "count", "node", "group")]
    + [("l", float, 2), ("turn", float, 2)]
)
SECONDARY = np.dtype([("element", np.int32, 2), ("l", float, (2, 2))])
OPTIMISED = ["cc", "-std=c99", "-O2", "-fno-math-errno"]


class Plane:
    """The elements of a Model whose pins turn about `axis`, at the state of its solver; secondary joints are pins."""

    def __init__(self, model: fm.Model, solver: fm.Solver, axis: str = "y") -> None:
        self._basis = {"y": np.array([[0, 0, 1.0], [1, 0, 0]]), "z": np.array([[1.0, 0, 0], [0, 1, 0]])}[axis]
        self._normal = np.cross(*self._basis)
        self._elements: list[tuple[Any, ...]] = []
        self._groups = 0
        self._nodes: list[float] = []
        self._places = {model.ground.name: -1}  # of each body: the element whose tip its frame is
        self._flexible: dict[str, tuple[int, int, Any]] = {}  # where its root is, its coordinates, the root's node
        q: list[float] = []
        cuts = []
        joints = {joint.name: joint for joint in model.joints}
        for name, last in zip(solver.joint_names, solver.image.arrays["joint_last"], strict=True):
            joint = joints[name]
            if last < 0:
                cuts.append(joint)
                continue
            self._add_joint(joint, len(q))
            q.append(float(solver.get(f"{name}.q")))
            if joint.M.body.name in self._flexible:
                q.extend(solver.get(f"{joint.M.body.name}.q"))
        self.coordinates = len(q)
        joints_of_loops = [self._secondary(joint) for joint in cuts]
        self._arrays: dict[str, Any] = {
            "elements": np.array(self._elements, ELEMENT),
            "joints": np.array(joints_of_loops, SECONDARY),
            "q": np.array(q),
            "nodes": np.array([*self._nodes, 0.0]),
        }
        self._make_room()
        self._place()

    def algorithm_1(self) -> Callable[[int], None]:
        """A call that makes `jacobian` so many times, swept along the two paths of each loop."""
        return self._repeated("algorithm_1", "r_O", "A_O", "l_q", "A_q", "jacobian")

    def algorithm_2(self) -> Callable[[int], None]:
        """The same by direct differentiation."""
        return self._repeated("algorithm_2", "l", "A", "A_O", "l_q", "A_q", "r_Oq", "A_Oq", "jacobian")

    @property
    def jacobian(self) -> np.ndarray:
        """(2 joints, coordinates), of the algorithm that ran last."""
        return np.array(self._arrays["jacobian"])

    def _add_joint(self, joint: fm.Joint, coordinate: int) -> None:
        at = self._reach(joint.F)
        (mode,) = joint.modes
        if mode.kind == "revolute":
            if abs(mode.axis @ self._normal - 1.0) > 1e-12:
                raise ValueError(f"'{joint.name}' does not turn about the normal")
            at = self._add(PIN, at, first=coordinate, count=1)
        else:
            at = self._add(SLIDE, at, first=coordinate, count=1, length=self._basis @ mode.axis)
        body = joint.M.body
        if hasattr(body, "modes"):
            self._flexible[body.name] = at, coordinate + 1, body.node(joint.M)
            return
        p, turn = self._in_plane(joint.M)
        back = np.array([turn[0], -turn[1]])
        self._places[body.name] = self._fixed(at, -_turned(back, p), back)

    def _secondary(self, joint: fm.Joint) -> tuple[Any, ...]:
        if not isinstance(joint, fm.Revolute):
            raise ValueError(f"'{joint.name}' closes a loop and is no pin")
        return [self._reach(P) for P in (joint.F, joint.M)], np.zeros((2, 2))

    def _reach(self, point: fm.Point) -> int:
        """The element whose tip is there."""
        if point.body.name not in self._flexible:
            return self._fixed(self._places[point.body.name], *self._in_plane(point))
        at, first, root = self._flexible[point.body.name]
        here = len(self._nodes)
        for u, rows in (root, point.body.node(point)):
            axes = self._basis @ point.body.plane_axes.matrix
            turned = float(self._normal @ point.body.plane_axes.matrix[:, 2])
            self._nodes.extend(self._basis @ np.array(u))
            for first_axis, second_axis, slope in rows:
                self._nodes.extend([*(axes[:, :2] @ (first_axis, second_axis)), turned * slope])
        return self._add(FLEXIBLE, at, first=first, count=len(root[1]), node=here)

    def _in_plane(self, point: fm.Point) -> tuple[np.ndarray, np.ndarray]:
        """Place, and cosine and sine of the turn, of a point in its body."""
        X = point.X_BP
        first = self._basis @ X.rotation.matrix @ self._basis[0]
        return self._basis @ X.translation, first

    def _fixed(self, inboard: int, length: np.ndarray, turn: np.ndarray) -> int:
        return self._add(BODY, inboard, length=length, turn=turn)

    def _add(
        self,
        kind: int,
        inboard: int,
        *,
        first: int = 0,
        count: int = 0,
        node: int = 0,
        length: Any = (0, 0),
        turn: Any = (1, 0),
    ) -> int:
        self._elements.append((kind, inboard, first, count, node, self._groups, length, turn))
        self._groups += count
        return len(self._elements) - 1

    def _make_room(self) -> None:
        n = len(self._elements)
        for name in ("l", "A", "r_O", "A_O", "r_Oq", "A_Oq"):
            self._arrays[name] = np.zeros(n, complex)
        for name in ("l_q", "A_q"):
            self._arrays[name] = np.zeros(self._groups, complex)
        self._arrays["jacobian"] = np.zeros((2 * len(self._arrays["joints"]), self.coordinates))

    def _place(self) -> None:
        names = ["elements", "nodes", "q", "l", "A", "r_O", "A_O", "l_q", "A_q"]
        _library().place(len(self._elements), *(self._pointer(name) for name in names))

    def _repeated(self, function: str, *rest: str) -> Callable[[int], None]:
        call = getattr(_library(), function)
        arguments = [self._pointer("elements"), len(self._arrays["joints"]), self._pointer("joints")]
        arguments += [self.coordinates, *(self._pointer(name) for name in rest)]
        if function == "algorithm_2":
            arguments.insert(0, len(self._elements))

        def run(times: int) -> None:
            for _ in range(times):
                call(*arguments)

        return run

    def _pointer(self, name: str) -> Any:
        return self._arrays[name].ctypes.data_as(ctypes.c_void_p)


def _turned(turn: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.array([turn[0] * v[0] - turn[1] * v[1], turn[1] * v[0] + turn[0] * v[1]])


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(build_library(HERE / "jacobians.c", OPTIMISED, ["-lm"])))
    for name in ("place", "algorithm_1", "algorithm_2"):
        getattr(library, name).restype = None
    return library
