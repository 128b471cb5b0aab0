"""Static equilibrium: positions where a mechanism at rest stays at rest, and whether it is stable there.

With q the coordinates of the spanning tree, N an orthonormal basis of their independent motions, J N = 0, and a their
accelerations at rest (M a = Q, J a = 0), r = N' a vanishes where all forces balance, and Newton's method solves

    A dq = r,    A = -dr/dq,    q <- assembled(q + N dq)

A = M^-1 K is the tangent stiffness over the inertia, by central differences; its eigenvalues are the squares of the
angular frequencies of small undamped vibrations about the equilibrium. All positive: it is stable. A step is shortened
until the next correction, with the same A, is smaller (Deuflhard's natural test, which no scaling of q or r changes).

If Newton's method fails from the given start, gravity, loads and input forces are applied in steps. If that fails
too, the mechanism moves freely from the start and is brought to rest wherever it is fastest, which loses energy until
it is near a stable equilibrium, where Newton's method goes on along the modes of vibration that are not indifferent.
At last, for stiff mechanisms, pseudo-transient continuation follows, (A + mu) dq = r with mu falling as r does: an
implicit Euler scheme of dq/dt = r, which descends the potential energy in the metric of the inertia.

From 40 velocity variables on, corrections and frequencies are found without a matrix, at a cost linear in the number
of bodies (krylov.py); only the lowest frequencies are then computed. Where that fails the methods above follow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fmumbs.compiler import ModelImage, compile
from fmumbs.compiler.kinds import FRICTION, kinds_called
from fmumbs.compiler.links import JOINT_FREE, JOINT_NONHOLONOMIC, JOINT_SPHERICAL
from fmumbs.errors import AssemblyError, EquilibriumError, SolverError
from fmumbs.mechanism import Model
from fmumbs.run.at_rest import at_rest, can_be_geared
from fmumbs.run.krylov import Displacements, NoConvergence
from fmumbs.run.solver import Solver

Array = NDArray[np.float64]

_DIFFERENCE = 1e-6  # [rad], or of the model's length: step of the differences
_CLOSE = 1e-9  # [rad], or of the length: the last correction, behind which Newton's method goes on by two digits more
_LONGEST = 0.5  # [rad], or of the length: largest step of one coordinate
_STEPS, _FLOW_STEPS, _LOAD_STEPS = 40, 150, 60
_SHORTEST = 1 / 256  # of a Newton step
_INDIFFERENT = 1e-7  # a squared frequency below this share of gravity over length is none ...
_ROUND_OFF = 1e-12  # ... or below this share of the largest
_SINGULAR = (1e-15, 1e-9)  # smaller singular values of A, over the largest, are zero: tried one after the other
_MOST_STEPS = 50_000  # of integration in the relaxation
_RESTS, _SWINGS, _RESTED = 100, 200, 1e-2  # of the relaxation: times at rest, steps between, accelerations at the end
_SHARES = tuple(np.linspace(0.0, 1.0, 11).tolist())  # of the loads of a large mechanism
_LOWEST = 4  # frequencies of a large mechanism
_INDEPENDENT = 1e-9  # singular values of rows of J with length one


@dataclass(frozen=True)
class Equilibrium:
    """What equilibrium() found.

    starts: positions of all states by name, to be given as `starts=` to compile() and export_fmu() or as `inputs=` to
        simulate().
    squares: (freedoms,) squares of the angular frequencies of small undamped vibrations [1/s2], ascending; a negative
        one belongs to a motion that departs. Of a large mechanism only the four of least magnitude.
    stable: whether all of them are positive. softest: the coordinate that moves most in the first of these motions.
    method: "newton", "load steps", "descent" or "relaxation". solver: stands in the equilibrium.
    """

    starts: dict[str, float]
    squares: tuple[float, ...]
    softest: str
    method: str
    solver: Solver

    @property
    def stable(self) -> bool:
        return all(value > 0.0 for value in self.squares)

    @property
    def frequencies(self) -> Array:
        """(freedoms,) angular frequencies [rad/s], ascending; 0 for motions that depart."""
        return np.sqrt(np.maximum(self.squares, 0.0))

    def __str__(self) -> str:
        if self.stable:
            first = f", lowest frequency {self.frequencies[0]:.6g} rad/s in {self.softest}" if self.squares else ""
            return f"stable equilibrium{first}"
        rate = float(np.sqrt(-self.squares[0]))
        return f"unstable equilibrium: a displacement of {self.softest} grows as exp({rate:.6g} t)"


def equilibrium(model: Model | ModelImage) -> Equilibrium:
    """A static equilibrium near the start of a mechanism, stable or not; works on trees, loops and flexible bodies.

    Excited modes stay where they are at t = 0, at rest. Laws act with the mean of their forces at small velocities of
    either sign, so that friction drops out: of the many positions in which it may stick, this is the one that needs
    none. Inputs have their start values.

    Raises ModelError for a model that cannot be compiled and for nonholonomic joints, AssemblyError if the loops cannot
    be closed, EquilibriumError where there is no equilibrium near the start or an indifferent one.
    """
    if not isinstance(model, Model):
        return _Statics(model).solve()
    still = at_rest(model)
    image = compile(still, everything=True)
    statics = _Statics(image)
    if statics.n < LARGE or image.sizes["modals"]:
        return statics.solve()
    geared = [joint.name for joint in still.joints if can_be_geared(joint) and joint.name not in image.cut_joints]
    soft = _Statics(compile(at_rest(model, 1.0 / statics.hurry(), geared), everything=True))
    return statics.solve_large(soft)


LARGE = 40
"""From this number of velocity variables on corrections are found without a matrix (krylov.py)."""


class _Failed(Exception):
    """A method found no equilibrium."""


class _Statics:
    """The search in one mechanism."""

    def __init__(self, image: ModelImage) -> None:
        arrays = image.arrays
        general = np.flatnonzero((arrays["joint_kind"] == JOINT_NONHOLONOMIC) & (arrays["joint_first"] >= 0))
        self.solver, self.image, self.n = Solver(image), image, image.sizes["speeds"]
        if len(general):
            raise EquilibriumError(
                f"Model '{image.name}': joint '{self.solver.joint_names[general[0]]}' is nonholonomic, for which no "
                "equilibrium is computed. Replace it by a Weld where it stands."
            )
        if arrays["joint_excited"].any():
            raise EquilibriumError(
                f"Model '{image.name}' has excited modes, which only a Model can lock. Give the Model, not its image."
            )
        self.accelerations = image.variables.accelerations()
        self.places, self.rates = image.variables.positions(), image.variables.speeds()
        (bristle,) = kinds_called(FRICTION, "z")
        self.bristles = np.flatnonzero(arrays["variable_kind"] == bristle.index).astype(np.uint32)
        self.still = np.zeros(self.n)
        self.length = float(arrays["length"].reshape(-1)[0])
        self.linear = arrays["mode_linear"][: self.n] == 1
        self.scale = np.where(self.linear, self.length, 1.0)
        self._pairs(arrays)
        self.forces = self._forces()
        self.solver.assemble()
        self.start = self.positions()

    def _pairs(self, arrays: dict[str, NDArray[np.generic]]) -> None:
        """Which positions are quaternions, and which belong to which velocity."""
        self.balls = []
        tree = np.asarray(arrays["joint_first"]) >= 0
        for joint in np.flatnonzero(np.isin(arrays["joint_kind"], (JOINT_SPHERICAL, JOINT_FREE)) & tree).tolist():
            behind = 3 if arrays["joint_kind"][joint] == JOINT_FREE else 0
            self.balls.append((int(arrays["joint_p"][joint]) + behind, int(arrays["joint_u"][joint]) + behind))
        p = np.ones(self.image.sizes["positions"] - self.image.sizes["bristles"], bool)
        u = np.ones(self.n, bool)
        for at, v in self.balls:
            p[at : at + 4], u[v : v + 3] = False, False
        self.plain_p, self.plain_u = np.flatnonzero(p), np.flatnonzero(u)

    def _forces(self) -> list[tuple[NDArray[np.uint32], Array]]:
        """Value references and values of what load steps scale."""
        variables = self.image.variables
        chosen = [v.index for v in variables if v.kind in ("gravity", "force", "torque", "tau", "f")
                  and v.causality in ("input", "parameter")]  # fmt: skip
        references = np.array(chosen, np.uint32)
        return [(references, self.solver.read(references))] if len(references) else []

    def inputs(self) -> list[tuple[int, int]]:
        """Value reference and velocity variable of the input of each scalar joint of the tree with a spring."""
        rotors = np.asarray(self.image.arrays["rotor_inertia"])[: self.n]
        self.geared = rotors > 0.0
        names = self.image.variables.names(self.rates)
        known = {v.name: v.index for v in self.image.variables if v.kind in ("tau", "f")}
        found = []
        for u in np.flatnonzero(self.geared).tolist():
            joint, _, part = names[u].partition(".qd")
            found.append((known.get(f"{joint}.tau{part}", known.get(f"{joint}.f{part}", -1)), u))
        self.given = self.solver.read(np.array([reference for reference, _ in found], np.uint32))
        return found

    def push(self, inputs: list[tuple[int, int]], force: Array) -> None:
        """Generalised forces on these inputs, beside their own values."""
        references = np.array([reference for reference, _ in inputs], np.uint32)
        self.solver.write(references, self.given + force[[u for _, u in inputs]])

    # Evaluations ----------------------------------------------------------------------------------------------

    def positions(self) -> Array:
        return self.solver.read(self.places)

    def place(self, q: Array) -> Array:
        """Assembles at rest at q; returns where it then is."""
        self.solver.write(self.places, q)
        self.solver.write(self.rates, self.still)
        self.solver.write(self.bristles, np.zeros(len(self.bristles)))
        self.solver.assemble()
        return self.positions()

    def moved(self, q: Array, v: Array) -> Array:
        """Moves q by v of the velocities, a ball by the rotation vector."""
        out = q.copy()
        out[self.plain_p] += v[self.plain_u]
        for p, u in self.balls:
            w, x, y, z = q[p : p + 4]
            angle = float(np.linalg.norm(v[u : u + 3]))
            c, (a, b, d) = np.cos(angle / 2), np.sinc(angle / (2 * np.pi)) / 2 * v[u : u + 3]
            out[p : p + 4] = (
                w * c - x * a - y * b - z * d,
                w * a + x * c + y * d - z * b,
                w * b - x * d + y * c + z * a,
                w * d + x * b - y * a + z * c,
            )
            out[p : p + 4] /= np.linalg.norm(out[p : p + 4])
        return out

    def accelerate(self) -> Array:
        return self.solver.read(self.accelerations)

    def basis(self) -> Array:
        """(n, freedoms) orthonormal independent motions, coordinates in multiples of the length."""
        if not self.image.sizes["rows"]:
            self.N = np.eye(self.n)
            return self.N
        J = self.solver.jacobian[self.solver.active_rows] * self.scale
        norms = np.linalg.norm(J, axis=1)
        _, s, vt = np.linalg.svd(J[norms > 0] / norms[norms > 0, None])
        self.N = np.asarray(vt[int((s > _INDEPENDENT).sum()) :].T)
        return self.N

    def residual(self) -> Array:
        """(freedoms,) accelerations along these motions; the others follow."""
        return np.asarray(self.N.T @ (self.accelerate() / self.scale))

    def tangent(self, q: Array, N: Array) -> Array:
        """A = -dr/dq along N."""
        columns = [self.slope(q, N[:, i]) for i in range(N.shape[1])]
        self.place(q)
        return np.array(columns).T.reshape(N.shape[1], -1)

    def slope(self, q: Array, direction: Array, step: float = _DIFFERENCE) -> Array:
        sides = []
        for sign in (1.0, -1.0):
            self.place(self.moved(q, sign * step * self.scale * direction))
            sides.append(self.residual())
        return np.asarray((sides[1] - sides[0]) / (2 * step))

    # Methods --------------------------------------------------------------------------------------------------

    def solve(self) -> Equilibrium:
        methods: tuple[tuple[str, float, Callable[[], Array]], ...] = (
            ("newton", _SINGULAR[0], lambda: self.newton(self.start)),
            ("newton", _SINGULAR[1], lambda: self.newton(self.start)),
            ("load steps", _SINGULAR[0], self.load_steps),
            ("relaxation", 0.0, self.relaxed),
            ("descent", _SINGULAR[1], self.descent),
        )
        if self.n == 0:
            return Equilibrium({}, (), "", "newton", self.solver)
        for name, self.singular, method in methods:
            try:
                return self.verdict(method(), name)
            except (_Failed, AssemblyError, SolverError):
                self.load(1.0)
        raise EquilibriumError(self.none())

    def newton(self, q: Array) -> Array:
        q = self.place(q)
        for _ in range(_STEPS):
            N = self.basis()
            r, A = self.residual(), self.tangent(q, N)
            step = self.correction(A, r)
            size = float(np.abs(step).max(initial=0.0))
            if not np.isfinite(size):
                raise _Failed
            q, closer = self.shortened(q, N, A, step)
            if size < _CLOSE or (closer and size < 1e3 * _CLOSE):
                self.check(A)
                return q
        raise _Failed

    def correction(self, A: Array, r: Array) -> Array:
        """A^-1 r, without the directions in which A is singular when its columns have length one.

        With A = M^-1 K the columns of stiff coordinates are large: their length says nothing of singularity.
        """
        if self.singular == 0.0:
            return self.correction_along_modes(A, r)
        length = np.linalg.norm(A, axis=0)
        length = np.maximum(length, 1e-15 * length.max(initial=1e-300))
        return np.asarray(np.linalg.lstsq(A / length, r, rcond=self.singular)[0] / length)

    def correction_along_modes(self, A: Array, r: Array) -> Array:
        """A^-1 r along the modes of vibration that forces return or drive away."""
        values, modes = np.linalg.eig(A)
        least = max(1e-5 * self.pull(), 1e-9 * float(np.abs(values).max(initial=0.0)))
        over = np.where(np.abs(values) > least, 1.0 / np.where(values == 0.0, 1.0, values), 0.0)
        return np.asarray((modes @ (over * np.linalg.solve(modes, r))).real)

    def relaxed(self) -> Array:
        """Undamped motion from the start, brought to rest again and again where it is fastest; then Newton's method."""
        q, step = self.start, 0.1 / np.sqrt(self.hurry())
        for _ in range(_RESTS):
            q = self.place(q)
            if np.abs(self.accelerate() / self.scale).max(initial=0.0) < _RESTED * self.hurry():
                return self.newton(q)
            before = 0.0
            for _ in range(_SWINGS):
                self.solver.step(self.solver.time + step)
                if self.solver.get("solver.steps") > _MOST_STEPS:
                    raise _Failed
                speed = float(np.linalg.norm(self.solver.read(self.rates) / self.scale))
                if speed < before:
                    break
                q, before = self.positions(), speed
        raise _Failed

    def shortened(self, q: Array, N: Array, A: Array, step: Array) -> tuple[Array, bool]:
        """Goes the longest part of a step that passes the natural test; tells whether that is all of it."""
        before = float(np.linalg.norm(step))
        longest = float(np.abs(step).max(initial=0.0))
        share = 1.0 if longest <= _LONGEST else _LONGEST / longest
        while share >= _SHORTEST:
            try:
                there = self.place(self.moved(q, self.scale * (N @ (share * step))))
                after = float(np.linalg.norm(self.correction(A, self.residual())))
            except (AssemblyError, SolverError):
                after = np.inf
            if after <= (1 - share / 4) * before or before < _CLOSE:
                return there, share == 1.0 and after <= 0.01 * before
            share /= 2
        raise _Failed

    def check(self, A: Array) -> None:
        """Nothing is left of the residual in directions in which A is singular."""
        r = self.residual()
        left = r - A @ self.correction(A, r)
        if np.abs(left).max(initial=0.0) > 1e-6 * self.pull():
            raise _Failed

    def pull(self) -> float:
        """A typical acceleration over the length [1/s2]: of gravity, or of what moves it where the start is."""
        g = float(np.linalg.norm(self.solver.get("gravity")))
        return max(g / self.length, 1e-12)

    def load(self, share: float) -> None:
        for references, values in self.forces:
            self.solver.write(references, share * values)

    def load_steps(self) -> Array:
        """From the unloaded mechanism to the loaded one."""
        share, step, q = 0.0, 0.1, self.start
        self.load(0.0)
        q = self.newton(q)
        for _ in range(_LOAD_STEPS):
            target = min(1.0, share + step)
            self.load(target)
            try:
                q = self.newton(q)
            except (_Failed, AssemblyError, SolverError):
                step /= 4
                continue
            share, step = target, 2 * step
            if share == 1.0:
                return q
        raise _Failed

    def descent(self) -> Array:
        """Pseudo-transient continuation, then Newton's method."""
        q = self.place(self.start)
        N = self.basis()
        r = self.residual()
        mu = 10 * float(np.linalg.norm(r))
        for _ in range(_FLOW_STEPS):
            A = self.tangent(q, N)
            step = self.correction(A + mu * np.eye(len(r)), r)
            longest = float(np.abs(step).max(initial=0.0))
            if longest < 1e-4 and mu < 1e-3 * float(np.abs(A).max()):
                return self.newton(q)
            if longest > _LONGEST:
                mu *= 4
                continue
            try:
                q = self.place(self.moved(q, self.scale * (N @ step)))
            except (AssemblyError, SolverError):
                q, mu = self.place(q), 4 * mu
                continue
            before, N = float(np.linalg.norm(r)), self.basis()
            r = self.residual()
            mu *= min(max(float(np.linalg.norm(r)) / before, 0.2), 2.0)
        raise _Failed

    # Large mechanisms -----------------------------------------------------------------------------------------

    def hurry(self) -> float:
        """Gravity over length [1/s2], or over the length 1 m/s2."""
        return max(float(np.linalg.norm(self.solver.get("gravity"))), 1.0) / self.length

    def within(self, q: Array) -> Callable[[Array], Array]:
        """The orthogonal projection onto the motions that the loops allow at q, in multiples of the length."""
        if not self.image.sizes["rows"]:
            return lambda v: v
        self.place(q)
        J = self.solver.jacobian[self.solver.active_rows] * self.scale
        norms = np.linalg.norm(J, axis=1)
        across, sizes, _ = np.linalg.svd((J[norms > 0] / norms[norms > 0, None]).T, full_matrices=False)
        across = across[:, sizes > _INDEPENDENT]
        return lambda v: np.asarray(v - across @ (across.T @ v))

    def solve_large(self, soft: "_Statics") -> Equilibrium:
        """By the displacements of a mechanism with rotors in place of its springs, which has the same coordinates."""
        s = 1.0 / self.hurry()

        def at(q: Array) -> Array:
            soft.place(q)
            return s * soft.accelerate() / soft.scale

        flow = Displacements(self.n, at, lambda q, v: soft.moved(q, soft.scale * v), soft.within)
        for name, shares in (("newton", (1.0,)), ("load steps", _SHARES)):
            q = self.start
            try:
                for share in shares:
                    soft.load(share)
                    q = soft.place(flow.newton(q, _CLOSE))
            except (NoConvergence, AssemblyError, SolverError):
                soft.load(1.0)
                continue
            return self.verdict_large(q, name, flow, soft)
        return self.solve()

    def verdict_large(self, q: Array, method: str, flow: Displacements, soft: "_Statics") -> Equilibrium:
        """The lowest frequencies, by inverse iteration in a Krylov space: K y = M x."""
        from scipy.sparse.linalg import LinearOperator, eigs

        self.place(q)
        r, s = self.accelerate() / self.scale, 1.0 / self.hurry()
        if np.abs(s * r).max() > 1e-3 and np.abs(flow.at(q)).max() > 1e3 * _CLOSE:
            return self.solve()
        least, free = flow.softest(q)
        if abs(least) < _INDIFFERENT:
            self.refuse_indifferent((0.0,), self.named(free))
        tau = soft.inputs()
        stiff = np.asarray(self.image.arrays["stiffness"])[: self.n] * soft.geared

        def inertia(x: Array) -> Array:  # (M / s + K_J)^-1 M x, as forces act linearly
            flow.at(q)
            base = soft.accelerate()
            soft.push(tau, stiff * self.scale * x)
            pushed = soft.accelerate()
            soft.push(tau, np.zeros(self.n))
            return np.asarray(s * x - s * s * (pushed - base) / self.scale)

        flexibility = LinearOperator(
            (self.n, self.n), matvec=lambda x: flow.solved(q, inertia(np.asarray(x, float).ravel())), dtype=float
        )
        start = np.random.default_rng(0).normal(size=self.n)
        values, motions = eigs(flexibility, k=2 * _LOWEST, v0=flexibility @ start, tol=1e-8, ncv=6 * _LOWEST)
        found = (1.0 / values).real
        order = np.argsort(-np.abs(values))[:_LOWEST]
        order = order[np.argsort(found[order])]
        squares = tuple(found[order].tolist())
        softest = self.named(motions[:, order[0]].real)
        self.refuse_indifferent(squares, softest)
        names = self.image.variables.names(self.places)
        self.place(q)
        starts = dict(zip(names, self.positions().tolist(), strict=True))
        return Equilibrium(starts, squares, softest, method, self.solver)

    # Verdict --------------------------------------------------------------------------------------------------

    def verdict(self, q: Array, method: str) -> Equilibrium:
        """Frequencies there; EquilibriumError for one that is indifferent."""
        q = self.place(q)
        N = self.basis()
        A = self.tangent(q, N)
        values, right = np.linalg.eig(A)
        order = np.argsort(values.real)
        squares = values.real[order]
        softest = ""
        if len(squares):
            squares[0], motion = self.refined(q, N, A, right[:, order[0]].real)
            squares.sort()
            softest = self.named(N @ motion)
            self.refuse_indifferent(squares, softest)
        names = self.image.variables.names(self.places)
        self.place(q)
        starts = dict(zip(names, self.positions().tolist(), strict=True))
        return Equilibrium(starts, tuple(squares.tolist()), softest, method, self.solver)

    def refuse_indifferent(self, squares: Sequence[float] | Array, softest: str) -> None:
        least = max(_ROUND_OFF * float(np.abs(squares).max()), _INDIFFERENT * self.pull())
        if float(np.abs(squares).min()) <= least:
            raise EquilibriumError(
                f"Model '{self.image.name}': the equilibrium is indifferent: no force returns {softest}, the "
                "coordinate that moves most in its free mode. Add a spring there, or replace the joint by a Weld."
            )

    def refined(self, q: Array, N: Array, A: Array, motion: Array) -> tuple[float, Array]:
        """The eigenvalue of a motion from its left and right eigenvectors: errors of stiff directions drop out."""
        values, left = np.linalg.eig(A.T)
        motion = motion / np.abs(motion).max()
        w = left[:, int(np.argmin(values.real))].real
        along = self.slope(q, N @ motion, 1e-5)
        product = float(w @ motion)
        return (float(w @ along) / product if product else float(values.real.min())), motion

    def named(self, motion: Array) -> str:
        """The coordinate that moves most."""
        rates = self.image.variables.names(self.rates)
        name = rates[int(np.argmax(np.abs(motion)))]
        return name.replace(".qd", ".q").replace(".v", ".r")

    def none(self) -> str:
        """Why there is no equilibrium: the motion that forces go on driving."""
        self.place(self.start)
        N = self.basis()
        A, r = self.tangent(self.start, N), self.residual()
        left = r - A @ np.linalg.lstsq(A, r, rcond=1e-9)[0]
        motion = left if np.abs(left).max(initial=0.0) > 1e-6 * self.pull() else r
        return (
            f"Model '{self.image.name}' has no equilibrium near its start: forces go on moving "
            f"{self.named(N @ motion)}. Add a spring or a Weld there, or give a start nearer to the equilibrium."
        )
