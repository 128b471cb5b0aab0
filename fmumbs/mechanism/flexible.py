"""Flexible bodies: a floating frame, and modes that deform the body, in one plane of it or in space.

In the body's frame, which moves with the body, a material point at r is displaced to r + sum_k phi_k(r) q_k. The modal
coordinates q are small: deflections of up to a tenth of the body's length. The coupling with the motion of the frame
is complete: all terms of first and second order in q and q', from the integrals of phi, r phi' and phi phi' over the
mass. With displacements of second order (second_order.py), which `.beam` and `.from_solid` have with `stiffening`, it
also shortens as it bends: tension stiffens it, thrust buckles it. A run warns where a rotation or strain by one mode is
above `solver.deformation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fmumbs import _checks
from fmumbs._checks import Vec3
from fmumbs._late import later
from fmumbs._limits import MOST_MODES
from fmumbs.errors import ModelError
from fmumbs.finite_elements.mode_table import ModeRow, mode_table
from fmumbs.finite_elements.seen import Seconds
from fmumbs.finite_elements.skin import Skin
from fmumbs.mechanism import bending, second_order
from fmumbs.mechanism.bodies import Body, Frame, Point, along_axis
from fmumbs.mechanism.given import Unset, UnsetNumbers
from fmumbs.mechanism.looks import Look
from fmumbs.mechanism.second_order import Sections
from fmumbs.mechanism.section import Slender
from fmumbs.mechanism.shapes import mass_of
from fmumbs.spatial import Rotation, Transform, moment_of, skew

Array = NDArray[np.float64]
Rows = tuple[tuple[float, ...], ...]

_PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
_SLACK = 1e-9  # rounding of what the user computed, relative
_STATIONS = 10  # in a unit of b, half a wave in about 3: an extreme value is found to half a percent
_NONE: Vec3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class BeamMode:
    """One mode of a beam: a shape along it, and what that moves.

    slide: direction of the translation by the value of the shape; lean, twist: directions of the turns by its slope and
    its value; all in the axes of the body, zero where there is none.
    """

    shape: bending.Bending | bending.Axial
    slide: Vec3
    lean: Vec3
    twist: Vec3 = (0.0, 0.0, 0.0)

    @property
    def kind(self) -> str:
        """What it is, for `.table`."""
        return "bending" if isinstance(self.shape, bending.Bending) else "torsion" if any(self.twist) else "extension"


@dataclass(frozen=True)
class Beam:
    """What a beam is beside its modes: their shapes, its length [m] and axis."""

    length: float
    axis: Vec3
    modes: tuple[BeamMode, ...]

    def at(self, offset: ArrayLike, where: str) -> tuple[Vec3, Array]:
        """The point of the axis at whose height an offset is, and (modes, 6) translation and turn there."""
        x = float(np.dot(self.axis, offset))
        if not -_SLACK * self.length <= x <= (1.0 + _SLACK) * self.length:
            raise ModelError(
                f"{where} is {x:g} m along the beam, which is {self.length:g} m long. Give a place on the beam."
            )
        s = min(max(x / self.length, 0.0), 1.0)
        rows = np.zeros((len(self.modes), 6))
        for row, mode in zip(rows, self.modes, strict=True):
            value, slope = mode.shape.derivative(0, s), mode.shape.derivative(1, s) / self.length
            row[:3] = value * np.array(mode.slide)
            row[3:] = slope * np.array(mode.lean) + value * np.array(mode.twist)
        a, b, c = (s * self.length * part for part in self.axis)
        return (a, b, c), rows

    def sections(self, s: Array) -> tuple[Sections, Array]:
        """What the modes do at places along it, and (modes, places, 3) the translations."""
        value, slope, second = (
            np.array([[mode.shape.derivative(k, x) for x in s.tolist()] for mode in self.modes]) for k in range(3)
        )
        slope, second = slope / self.length, second / self.length
        slide, lean, twist = (np.array([getattr(m, what) for m in self.modes]) for what in ("slide", "lean", "twist"))
        axis = np.array(self.axis)
        of = Sections(
            turn=slope[..., None] * lean[:, None] + value[..., None] * twist[:, None],
            turned=second[..., None] * lean[:, None] + self.length * slope[..., None] * twist[:, None],
            strain=slope * (slide @ axis)[:, None],
            twist=value * (twist @ axis)[:, None],
        )
        return of, value[..., None] * slide[:, None]

    def strain(self, mode: BeamMode) -> float:
        """The largest slope, twist or strain that a unit of a mode's coordinate makes."""
        shape = mode.shape
        along = np.linspace(0.0, 1.0, _STATIONS * int(np.ceil(shape.b)) + 1).tolist()
        slope = max(abs(shape.derivative(1, s)) for s in along) * float(np.linalg.norm(mode.slide)) / self.length
        twist = max(abs(shape.derivative(0, s)) for s in along) * float(np.linalg.norm(mode.twist))
        return max(slope, twist)


@dataclass(frozen=True, init=False)
class ModalBody(Body):
    """A flexible body with modes: `ModalBody(name, mass=, com=, inertia=, points=, shapes=, ...)`, or `.beam`.

    mass, com, inertia, points, measured: of the undeformed body, as for a Body; every point where something acts has a
        name. slender: as for a Body; None. look (color, opacity, visual, euler): as for a Body.
    plane: "xy", "xz" or "yz", in which the body bends; rotation from the first axis to the second is positive; None for
        a body that deforms in space.
    shapes: {point: (modes, 3)}: for each mode, the deflection of that point along the plane's two axes [1] and its
        rotation [rad/m], so that modal coordinates are lengths [m]. In space (modes, 6): translation and rotation
        vector in the body's axes.
    stiffness, damping: (modes, modes) [N/m], [N.s/m], or their diagonals.
    shape_mass: (modes, 3) integral of phi over the mass [kg], in the body's axes.
    shape_moment: (modes, 3, 3) integral of r phi' [kg.m], r from the origin of the body's frame.
    shape_product: (modes, modes, 3, 3) integral of phi_j phi_k' [kg]; without it second-order terms are left out.
    modal_mass: (modes, modes) [kg], or its diagonal; by default the traces of shape_product.
    q0, u0: (modes,) initial modal coordinates [m] and their rates [m/s].
    stresses: {name: (modes, 6)} for each mode the stress xx yy zz xy xz yz at some place, in the body's axes [Pa/m]; it
        becomes an output. skin: its surface in pictures, by from_solid and from_matrices.
    bending: the beam, for a body made by `.beam`; stiffening: whether it has displacements of second order;
        second_order: those that `.from_solid` makes, None for a beam's own. kinds: what each mode is, for `.table`; by
        default nothing.

    A beam or a solid with `stiffening` has geometric stiffness. Another body has none: with the first frequency w1 it
    bends too far where it turns at w across its length, in the plane of rotation by about 1 / (1 - w^2 / w1^2), and
    above w1 without bound. `fmumbs check` warns of known speeds above w1, and a run with a DeformationWarning if one
    of the modes turns or strains the body by more than `solver.deformation`, by default 0.3.

    Variables: those of a Body, for its frame, without mass and inertia as parameters; and q, qd, qdd; at each place of
    `stresses` NAME.stress (6) and NAME.mises [Pa], to first order in q. Raises ModelError for integrals and matrices
    that no body can have.
    """

    plane: str | None
    shapes: tuple[tuple[str, Rows], ...]
    stiffness: Rows
    damping: Rows
    modal_mass: Rows
    shape_mass: Rows
    shape_moment: tuple[Rows, ...]
    shape_product: tuple[tuple[Rows, ...], ...]
    q0: tuple[float, ...]
    u0: tuple[float, ...]
    bending: Beam | None
    stiffening: bool
    second_order: Seconds | None
    kinds: tuple[str, ...]
    stresses: tuple[tuple[str, Rows], ...]
    skin: Skin | None

    def __init__(
        self,
        name: str,
        *,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = (0.0, 0.0, 0.0),
        points: Mapping[str, ArrayLike | Transform] | Iterable[Frame] = (),
        measured: bool = False,
        slender: Slender | None = None,
        plane: str | None = "xy",
        shapes: Mapping[str, ArrayLike] | Iterable[tuple[str, Rows]] = (),
        stiffness: ArrayLike,
        damping: ArrayLike = 0.0,
        shape_mass: ArrayLike,
        shape_moment: ArrayLike,
        shape_product: ArrayLike | None = None,
        modal_mass: ArrayLike | None = None,
        q0: ArrayLike | None = None,
        u0: ArrayLike | None = None,
        bending: Beam | None = None,
        stiffening: bool = False,
        second_order: Seconds | None = None,
        kinds: Sequence[str] = (),
        stresses: Mapping[str, ArrayLike] | Iterable[tuple[str, Rows]] = (),
        skin: Skin | None = None,
        **look: Unpack[Look],
    ) -> None:
        super().__init__(
            name, mass=mass, com=com, inertia=inertia, points=points, measured=measured, slender=slender, **look
        )
        if plane is not None and (not isinstance(plane, str) or plane not in _PLANES):
            planes = ", ".join(_PLANES)
            raise ModelError(
                f"{self._where('plane')} is {_checks.shown(plane)}, but must be one of {planes}, or None. Give one."
            )
        self._store("plane", plane)
        self._store("bending", bending)
        self._store("second_order", second_order)
        self._store("stiffening", _checks.flag(stiffening, self._where("stiffening")) or second_order is not None)
        if self.stiffening and bending is None and second_order is None:
            raise ModelError(
                f"{self._where('stiffening')} needs a body made by ModalBody.beam, .from_solid or .from_matrices. "
                "Leave it out."
            )
        n = self._store_modes(shape_mass, shape_moment, shape_product, modal_mass, stiffness, damping)
        for field, start in (("q0", q0), ("u0", u0)):
            default = start is None or isinstance(start, Unset)
            self._store(field, UnsetNumbers((0.0,) * n) if default else _checks.numbers(start, n, self._where(field)))
        self._store("shapes", self._shapes(dict(shapes), n))
        self._store("skin", skin)
        self._store("stresses", self._gauges(dict(stresses), n))
        self._store("kinds", _checks.names(kinds, self._where("kinds")))
        if len(self.kinds) not in (0, n):
            raise ModelError(f"{self._where('kinds')} has {len(self.kinds)} words for {n} modes. Give one for each.")
        self._check_integrals(*(np.array(rows) for rows in (self.shape_mass, self.shape_moment, self.shape_product)))

    def _store_modes(
        self,
        shape_mass: ArrayLike,
        shape_moment: ArrayLike,
        shape_product: ArrayLike | None,
        modal_mass: ArrayLike | None,
        stiffness: ArrayLike,
        damping: ArrayLike,
    ) -> int:
        """Stores the integrals and the matrices of the modes; returns how many modes there are."""
        first = self._array("shape_mass", shape_mass, (None, 3))
        n = len(first)
        if not 1 <= n <= MOST_MODES:
            raise ModelError(f"{self._where('shape_mass')} has {n} modes. Give 1 to {MOST_MODES}, or a Body.")
        moment = self._array("shape_moment", shape_moment, (n, 3, 3))
        product = np.zeros((n, n, 3, 3))
        if shape_product is not None:
            product = self._array("shape_product", shape_product, (n, n, 3, 3))
        elif modal_mass is None:
            raise ModelError(f"{self._where('modal_mass')} is missing, and so is shape_product. Give one of them.")
        own = np.trace(product, axis1=2, axis2=3) if modal_mass is None else modal_mass
        for field, value in (("modal_mass", own), ("stiffness", stiffness), ("damping", damping)):
            self._store(field, _tuples(self._matrix(field, value, n)))
        for field, array in (("shape_mass", first), ("shape_moment", moment), ("shape_product", product)):
            self._store(field, _tuples(array))
        return n

    @classmethod
    def beam(
        cls,
        name: str,
        *,
        length: float,
        EI: float | Sequence[float],
        mass: float | None = None,
        density: float | None = None,
        area: float | None = None,
        modes: int = 2,
        boundary: str = "clamped-free",
        damping_ratio: float | Sequence[float] = 0.0,
        along: str = "x",
        plane: str | None = "xy",
        axial_inertia: float = 0.0,
        twist: int = 0,
        GJ: float | None = None,
        stretch: int = 0,
        EA: float | None = None,
        stiffening: bool = False,
        q0: ArrayLike | None = None,
        u0: ArrayLike | None = None,
        **look: Unpack[Look],
    ) -> Self:
        """A uniform Euler-Bernoulli beam from `base`, its frame's origin, to `tip`.

        name and look (color, opacity, visual, euler): as for Body. length [m]; EI: bending stiffness [N.m2]; mass [kg],
            or density [kg/m3] and area [m2].
        boundary: "BASE-TIP", each of clamped, pinned, free, sliding: the boundary conditions of the modes. They fix
            the floating frame in the beam: tangent at a clamped end, passing through a pinned end. Joints may act
            anywhere. Use clamped-free for a beam driven at its base, pinned-pinned for a coupler.
        damping_ratio: one for all modes, or one for each. along: axis of the undeformed beam; plane: of bending.
        plane=None: it bends in both planes, with `modes` modes in each; then EI may be two numbers, about the next two
            axes of the body in cyclic order (for "x" they are y and z). The modal coordinates are first the deflections
            along the first of these axes, then along the second, then twists, then stretches.
        twist, stretch: how many modes of torsion and of extension it has besides, with GJ [N.m2] and EA [N]; both are
            zero at the base and free at the tip: sin((k - 1/2) pi x / L). Twist needs plane=None and axial_inertia.
        axial_inertia: about the beam's axis [kg.m2]; needed for a beam in space on a ball joint.
        stiffening: whether it shortens as it bends, so that tension stiffens it and thrust buckles it; needed for beams
            that turn fast or carry large loads along their axis. Then a beam without `stretch` that is held at both
            ends does not bend.
        q0, u0: (modes,) initial largest deflection by each mode [m], angle of a twist [rad], and their rates.

        `.at(x, y, z)` is a point fixed to the cross-section at x, which moves and rotates with the modes.
        """
        where = f"ModalBody.beam '{name}'"
        length = _checks.size(length, f"{where}: length")
        if (density is None) != (area is None):
            raise ModelError(f"{where}: only one of density and area is given. Give both, or mass.")
        volume = 0.0 if area is None else _checks.size(area, f"{where}: area") * length
        mass = _checks.size(mass_of(volume, mass, density, where), f"{where}: mass")
        axial = _checks.not_negative(axial_inertia, f"{where}: axial_inertia")
        e = np.array(_axis_of(along, plane, where))
        stiffnesses = _stiffnesses(EI, plane, along, where)
        shapes = bending.modes(_count(modes, where), *_ends(boundary, where))
        made: list[tuple[BeamMode, float]] = [  # with its stiffness
            (BeamMode(shape, _tuples(d), _tuples(np.cross(e, d))), shape.b**4 / length**3 * stiffness)
            for d, stiffness in zip(_across(along, plane), stiffnesses, strict=True)
            for shape in shapes
        ]
        made += _axial(twist, GJ, axial, plane, e, length, where)
        made += _extending(stretch, EA, e, length, where)
        if len(made) > MOST_MODES:
            raise ModelError(f"{where} has {len(made)} modes, but at most {MOST_MODES}. Take fewer.")
        integrals = _integrals([mode for mode, _ in made], mass, axial, e, length)
        own = np.diag(np.trace(integrals["shape_product"], axis1=2, axis2=3))
        squares = np.array([integral for _, integral in made])
        stiffness = squares * integrals["squares"]
        frequencies = np.sqrt(stiffness / own)
        ratio = np.array(_ratios(damping_ratio, len(made), where))
        transverse = mass * length**2 / 12 + (axial / 2 if plane is None else 0.0)
        return cls(
            name,
            mass=mass,
            com=length / 2 * e,
            inertia=transverse * np.eye(3) + (axial - transverse) * np.outer(e, e),
            points=(Frame("base", Transform.identity()), Frame("tip", Transform(None, length * e))),
            plane=plane,
            stiffness=stiffness,
            damping=2.0 * ratio * frequencies * own,
            q0=q0,
            u0=u0,
            **look,
            bending=Beam(length, _tuples(e), tuple(mode for mode, _ in made)),
            kinds=tuple(mode.kind for mode, _ in made),
            stiffening=stiffening,
            shape_mass=integrals["shape_mass"],
            shape_moment=integrals["shape_moment"],
            shape_product=integrals["shape_product"],
        )

    @classmethod
    def from_matrices(
        cls,
        name: str,
        *,
        K: Any,
        M: Any,
        nodes: ArrayLike,
        interfaces: Mapping[str, Any],
        modes: int | None = None,
        highest: float | None = None,
        damping: Any,
        method: str = "craig-bampton",
        frame: str | None = None,
        points: Mapping[str, Any] | None = None,
        skin: ArrayLike | None = None,
        stiffening: Sequence[Any] = (),
        q0: ArrayLike | None = None,
        u0: ArrayLike | None = None,
        **look: Unpack[Look],
    ) -> Self:
        """A body from the matrices of its finite elements, in the axes and the coordinates of their mesh.

        K, M: (freedoms, freedoms) stiffness [N/m, ...] and mass [kg, ...] of the free body, sparse or dense; M
            consistent or lumped, with nodes without mass.
        nodes: (nodes, 3) coordinates [m]. Freedoms in the order of the nodes, three a node (translations), or six (with
            rotations).
        interfaces: {name: where something is attached}: a node by its number from 0; a list of nodes, which move as one
            rigid body; {node: weight}, whose weighted mean motion counts; or an `fm.Interface`. Each becomes a point
            with a frame. One node of three freedoms turns with the average of the nodes around it.
        modes: number of normal modes; highest: angular frequency that none of them exceeds [rad/s]; give one or both.
        damping: a ratio; one for each mode; a function of the angular frequency [rad/s] that returns a ratio; or
            `fm.Rayleigh(mass, stiffness)`.
        method: "craig-bampton": the modes of the body with its interfaces at rest, and its static answers to their unit
            motions; "free": modes of the free body, and static answers to unit wrenches at the interfaces. Either way
            static deflections under wrenches at the interfaces are exact, so that six modes an interface are added to
            `modes`, less six by method "craig-bampton".
        frame: the interface whose point and axes the body's frame follows (tangent frame); None: the frame in which the
            modes have no momentum (Buckens). Its origin and axes are those of the mesh where the body is undeformed.
        points: {name: node or nodes}, as for interfaces: more points, to measure at; nothing is attached to them.
        skin: (triangles, 3) numbers of nodes, counterclockwise as seen from outside: a surface that pictures show
            deformed, coloured by displacement. An FMU carries it with its shapes; without it its size does not depend
            on the mesh.
        stiffening: stiffness matrices under loads, each an `fm.Loaded`: what these loads do to the body's stiffness, in
            proportion to them, and no others. Without them it has no geometric stiffness.
        q0, u0: (all modes,) as for ModalBody. name and look: as for Body.

        Modal coordinates are the largest displacement of a node by each mode [m], or the largest rotation of one times
        a tenth of the body's length if that is more, in order of their frequencies. What each mode is, `.table` tells.

        Raises ModelError for matrices that are not symmetric, a K that resists rigid motion or that has mechanisms,
        an M without rigid mass, interfaces that overlap, and more than 64 modes.
        """
        return cls._reduced(
            name, K=K, M=M, nodes=nodes, interfaces=interfaces, modes=modes, highest=highest, damping=damping,
            method=method, frame=frame, points=points, skin=skin, loads=stiffening, q0=q0, u0=u0, **look,
        )  # fmt: skip

    @classmethod
    def _reduced(
        cls,
        name: str,
        *,
        elements: Any = None,
        recovered: Any = None,
        loads: Any = (),
        modes: int | None = None,
        highest: float | None = None,
        method: str = "craig-bampton",
        frame: str | None = None,
        q0: ArrayLike | None = None,
        u0: ArrayLike | None = None,
        points: Mapping[str, Any] | None = None,
        skin: Any = None,
        K: Any,
        M: Any,
        nodes: ArrayLike,
        interfaces: Mapping[str, Any],
        damping: Any,
        **look: Unpack[Look],
    ) -> Self:
        """As from_matrices; elements, or loads: by which it stiffens; recovered: the stress at nodes."""
        from fmumbs.finite_elements import body  # late: with SciPy's sparse matrices

        made = body.reduce(
            f"ModalBody.from_matrices '{_checks.name(name, 'ModalBody: name')}'",
            K, M, nodes, interfaces, modes, highest, damping, method, frame, {} if points is None else points, skin,
            elements, recovered, loads,
        )  # fmt: skip
        return cls(name, **made, plane=None, q0=q0, u0=u0, **look)

    @classmethod
    def from_solid(
        cls,
        name: str,
        *,
        nodes: ArrayLike,
        tetrahedra: ArrayLike,
        E: float,
        nu: float,
        density: float,
        interfaces: Mapping[str, Any],
        points: Mapping[str, Any] | None = None,
        stiffening: bool = False,
        stress_at: Mapping[str, int] | None = None,
        skin: bool = False,
        **reduction: Any,
    ) -> Self:
        """A solid of tetrahedra, of which scikit-fem (`pip install 'fmumbs[fem]'`) makes the matrices.

        name: of the body. nodes: (nodes, 3) [m].
        tetrahedra: (elements, 10) numbers of nodes from 0, in the order of gmsh and meshio, with straight or curved
            edges; or (elements, 4), whose bodies are too stiff by far in bending. Nodes of no tetrahedron are left out.
        E: Young's modulus [Pa]; nu: Poisson's ratio; density [kg/m3].
        stiffening: whether it has displacements of second order, so that tension stiffens it and thrust buckles it;
            needed for bodies that turn fast or carry large loads along them.
        stress_at: {name: node} where stress is an output: NAME.stress, xx yy zz xy xz yz in the body's axes, and
            NAME.mises [Pa], the mean of the elements that meet there. Under loads at interfaces that rest or move
            steadily it is that of the whole mesh.
        skin: whether pictures show its surface deformed, coloured by displacement; an FMU then carries the surface.
        interfaces, points, reduction (all else): as for `from_matrices`.

        A mesh of gmsh, with `mesh = meshio.read("rod.msh")`: nodes=mesh.points, tetrahedra=mesh.cells_dict["tetra10"].
        """
        from fmumbs.finite_elements import body, solid  # late: with SciPy's sparse matrices

        where = f"ModalBody.from_solid '{_checks.name(name, 'ModalBody: name')}'"
        made = solid.solid(nodes, tetrahedra, E, nu, density, where, stress_at)
        places = np.asarray(nodes, float)[made.nodes]
        return cls._reduced(
            name,
            elements=made.elements if _checks.flag(stiffening, f"{where}: stiffening") else None,
            recovered=made.recovered,
            skin=solid.surface(made.elements.cells, places) if _checks.flag(skin, f"{where}: skin") else None,
            K=made.K,
            M=made.M,
            nodes=places,
            interfaces=body.renumbered(interfaces, made.nodes, f"{where}: interfaces"),
            points=body.renumbered({} if points is None else points, made.nodes, f"{where}: points"),
            **reduction,
        )

    @property
    def given(self) -> tuple[bool, bool]:
        """Whether q0 and u0 were given explicitly, even with the default values."""
        return not isinstance(self.q0, Unset), not isinstance(self.u0, Unset)

    @property
    def modes(self) -> int:
        """The number of modes."""
        return len(self.shape_mass)

    @property
    def frequencies(self) -> Array:
        """(modes,) angular eigenfrequencies [rad/s] with the body's frame fixed, ascending."""
        from scipy.linalg import eigh

        squares: Array = eigh(np.array(self.stiffness), np.array(self.modal_mass), eigvals_only=True)
        return np.sqrt(np.maximum(squares, 0.0))

    @property
    def table(self) -> tuple[ModeRow, ...]:
        """A row for each eigenmode with the body's frame fixed, ascending: its frequency, kind and effective mass.

        Empty if some motion of the modes has no mass.
        """
        K, M, D = (np.array(rows) for rows in (self.stiffness, self.modal_mass, self.damping))
        first, moment = np.array(self.shape_mass), np.array(self.shape_moment)
        inertia = float(np.trace(self.inertia))
        return mode_table(K, M, D, first, moment, np.array(self.com), self.mass, inertia, self.kinds)

    def view(self) -> Any:
        """A page of its eigenmodes with its frame fixed, each with its frequency, which a notebook shows; see
        Model.view(). With a `skin` its surface is seen, coloured by displacement.

        Raises ModelError for a body without points, and where some motion of the modes has no mass.
        """
        return later("view").view_modes(self)

    @property
    def strains(self) -> tuple[float, ...]:
        """(modes,) the largest rotation [rad] or strain that a unit of each modal coordinate makes [1/m].

        Of a body that is no beam, among its named points.
        """
        if self.bending is not None:
            return tuple(self.bending.strain(mode) for mode in self.bending.modes)
        places = {frame.name: np.array(frame.X_BP.offset) for frame in self.points}
        shapes = [(places[name], np.array(rows)) for name, rows in self.shapes if name in places]
        across = 2 if self.plane is not None else 3
        turns = [np.linalg.norm(rows[:, across:], axis=1) for _, rows in shapes]
        chords = [
            np.linalg.norm(one[:, :across] - other[:, :across], axis=1) / np.linalg.norm(a - b)
            for k, (a, one) in enumerate(shapes)
            for b, other in shapes[:k]
            if (a != b).any()
        ]
        return tuple(np.max([np.zeros(self.modes), *turns, *chords], axis=0).tolist())

    @property
    def plane_axes(self) -> Rotation:
        """The axes of the plane in which it bends, and the normal, in the body's axes."""
        if self.plane is None:
            return Rotation.identity()
        i, j = _PLANES[self.plane]
        e = np.eye(3)
        return Rotation.columns(e[i], e[j], np.cross(e[i], e[j]))

    def node(self, point: Point) -> tuple[Vec3, Rows]:
        """What a point is fixed to: where that is in the undeformed body [m], and (modes, 6) its shapes.

        Of each mode translation and rotation vector in the axes of `plane_axes`.
        """
        where = f"Point {point!r}"
        if self.bending is not None:
            at, rows = self.bending.at(point.X_BP.offset, where)
            axes = self.plane_axes.matrix
            return at, _tuples(np.hstack([rows[:, :3] @ axes, rows[:, 3:] @ axes]) + 0.0)
        known = dict(self.shapes)
        for frame in self.points:
            if frame.X_BP.offset == point.X_BP.offset:
                shapes = known[frame.name]
                flat = self.plane is not None
                return frame.X_BP.offset, tuple((*r[:2], 0.0, 0.0, 0.0, r[2]) for r in shapes) if flat else shapes
        raise ModelError(
            f"{where} is not a named point of the flexible body '{self.name}', so its shapes are unknown. "
            "Add it to points= and shapes=."
        )

    def seconds(self, points: Sequence[Point]) -> Seconds | None:
        """The shapes of second order, with the motions of these points of it, in the body's axes; None: it has none."""
        if self.second_order is not None:
            names = {frame.X_BP.offset: k for k, frame in enumerate(self.points)}
            return replace(self.second_order, rows=self.second_order.rows[[names[p.X_BP.offset] for p in points]])
        if self.bending is None or not self.stiffening:
            return None
        beam, axis = self.bending, np.array(self.bending.axis)
        places = [float(np.dot(axis, self.node(point)[0])) / beam.length for point in points]
        s, weights, upto = second_order.integrating(_nodes(self.modes), np.array(places))
        axial = float(axis @ np.array(self.inertia) @ axis)
        return second_order.of_beam(*beam.sections(s), weights, s, upto, self.mass, axial, beam.length, axis)

    def _array(self, field: str, value: ArrayLike, shape: tuple[int | None, ...]) -> Array:
        try:
            array = np.array(value, float)
        except (TypeError, ValueError):
            array = np.array(np.nan)
        fits = array.ndim == len(shape) and all(s in (None, n) for s, n in zip(shape, array.shape, strict=True))
        if fits and np.isfinite(array).all():
            return array
        wanted = ", ".join("modes" if n is None else str(n) for n in shape)
        raise ModelError(f"{self._where(field)} is not an array of ({wanted}) finite numbers. Give one.")

    def _matrix(self, field: str, value: ArrayLike, n: int) -> Array:
        """A symmetric positive semidefinite matrix, from itself or its diagonal."""
        if np.ndim(value) < 2:
            value = np.diag(np.broadcast_to(self._array(field, np.atleast_1d(value), (None,)), (n,)))
        matrix = self._array(field, value, (n, n))
        scale = max(float(np.abs(matrix).max()), 1e-300)
        if np.abs(matrix - matrix.T).max() > _SLACK * scale:
            raise ModelError(f"{self._where(field)} is not symmetric. Give a symmetric matrix.")
        matrix = (matrix + matrix.T) / 2
        if np.linalg.eigvalsh(matrix)[0] < -_SLACK * scale:
            raise ModelError(f"{self._where(field)} is not positive semidefinite. Check its signs.")
        return matrix

    def _shapes(self, shapes: Mapping[str, ArrayLike], n: int) -> tuple[tuple[str, Rows], ...]:
        if self.bending is not None:
            return ()
        names = [frame.name for frame in self.points]
        for name in shapes:
            if name not in names:
                what = f"{self._where('shapes')} has '{name}', but there is no such point"
                raise ModelError(f"{what}. {_checks.nearest(name, names)}")
        for name in names:
            if name not in shapes:
                what = f"{self._where('shapes')} has no entry for the point '{name}'"
                raise ModelError(f"{what}. Give its shapes (modes, {6 if self.plane is None else 3}).")
        columns = 6 if self.plane is None else 3
        return tuple((name, _tuples(self._array(f"shapes['{name}']", shapes[name], (n, columns)))) for name in names)

    def _gauges(self, stresses: Mapping[str, ArrayLike], n: int) -> tuple[tuple[str, Rows], ...]:
        for name in stresses:
            _checks.name(name, self._where("stresses"))
            if name in (frame.name for frame in self.points):
                what = f"{self._where('stresses')} has '{name}', which is a point as well"
                raise ModelError(f"{what}. Give the place another name.")
        given = stresses.items()
        return tuple((name, _tuples(self._array(f"stresses['{name}']", rows, (n, 6)))) for name, rows in given)

    def _check_integrals(self, first: Array, moment: Array, product: Array) -> None:
        normal = self.plane_axes.matrix[:, 2]
        for field, array in (("shape_mass", first), ("shape_moment", moment), ("shape_product", product)):
            if self.plane is not None and np.abs(array @ normal).max() > _SLACK * np.abs(array).max():
                raise ModelError(f"{self._where(field)} leaves the plane {self.plane}. Give that in which it bends.")
        if np.abs(product - product.transpose(1, 0, 3, 2)).max() > _SLACK * max(np.abs(product).max(), 1e-300):
            what = self._where("shape_product")
            raise ModelError(f"{what} is not symmetric: [j, k] must be the transpose of [k, j]. Check its entries.")
        whole = np.zeros((6 + len(first),) * 2)  # mass matrix: angular, linear, modal
        cross = skew(np.array(self.com))
        whole[:3, :3] = np.array(self.inertia) - self.mass * cross @ cross
        whole[:3, 3:6] = self.mass * cross
        whole[3:6, 3:6] = self.mass * np.eye(3)
        whole[:3, 6:] = moment_of(moment).T
        whole[3:6, 6:] = first.T
        whole[6:, 6:] = np.array(self.modal_mass)
        whole = np.triu(whole) + np.triu(whole, 1).T
        size = np.sqrt(np.maximum(np.diag(whole), 1e-14 * max(np.diag(whole).max(), 1e-300)))
        if np.linalg.eigvalsh(whole / np.outer(size, size))[0] < -1e-6:
            raise ModelError(
                f"ModalBody '{self.name}': mass, inertia and modes are inconsistent: the kinetic energy of some "
                "motion is negative. Check the units, the origin and the scale of the shapes."
            )


def _tuples(array: Array) -> Any:
    return tuple(_tuples(part) for part in array) if array.ndim > 1 else tuple(array.tolist())


def _count(modes: object, where: str) -> int:
    if not isinstance(modes, int) or isinstance(modes, bool) or not 1 <= modes <= MOST_MODES:
        raise ModelError(
            f"{where}: modes is {_checks.shown(modes)}, but must be 1 to {MOST_MODES}. For a rigid body use Body.rod."
        )
    return modes


def _ends(boundary: object, where: str) -> tuple[str, str]:
    base, dash, tip = str(boundary).partition("-")
    if dash and base in bending.ENDS and tip in bending.ENDS:
        return base, tip
    raise ModelError(
        f"{where}: boundary is {_checks.shown(boundary)}, but must be two of {', '.join(bending.ENDS)} joined by a "
        "hyphen. Give one such as 'clamped-free'."
    )


def _axis_of(along: str, plane: str | None, where: str) -> Vec3:
    """The axis of a beam."""
    k, sign = along_axis(along, where)
    if plane is not None and (not isinstance(plane, str) or k not in _PLANES.get(plane, ())):
        raise ModelError(
            f"{where} lies along {along} and cannot bend in the plane {_checks.shown(plane)}. Give another plane."
        )
    return _checks.vector(sign * np.eye(3)[k] + 0.0, where)


def _across(along: str, plane: str | None) -> list[Array]:
    """The directions in which a beam deflects."""
    k, sign = along_axis(along, "beam")
    unit = np.eye(3)
    if plane is None:
        return [unit[(k + 1) % 3], unit[(k + 2) % 3]]
    i, j = _PLANES[plane]
    return [np.cross(np.cross(unit[i], unit[j]), sign * unit[k]) + 0.0]


def _stiffnesses(EI: float | Sequence[float], plane: str | None, along: str, where: str) -> tuple[float, ...]:
    """Of the deflections in these directions: along the next axis it bends about the one after that."""
    if isinstance(EI, Iterable):
        if plane is not None:
            raise ModelError(f"{where}: EI are two numbers, but it bends in one plane. Give one, or plane=None.")
        about = tuple(_checks.size(v, f"{where}: EI") for v in _checks.numbers(EI, 2, f"{where}: EI", (1.0, 1.0)))
        return about[::-1]
    return (_checks.size(EI, f"{where}: EI"),) * (1 if plane is not None else 2)


def _axial(
    count: int, GJ: float | None, inertia: float, plane: str | None, e: Array, length: float, where: str
) -> list[tuple[BeamMode, float]]:
    """Modes of torsion, each with G J / L; that times the integral of the squared slope over s is its stiffness."""
    if not _checks.whole(count, f"{where}: twist", 0):
        return []
    if plane is not None or inertia == 0.0:
        raise ModelError(f"{where}: it twists, which needs plane=None and an axial_inertia. Give them, or twist=0.")
    each = _checks.size(GJ, f"{where}: GJ") / length
    return [
        (BeamMode(shape, _NONE, _NONE, _tuples(e)), each) for shape in bending.axial(_count(count, where))
    ]


def _extending(count: int, EA: float | None, e: Array, length: float, where: str) -> list[tuple[BeamMode, float]]:
    """The same of extension, with E A / L."""
    if not _checks.whole(count, f"{where}: stretch", 0):
        return []
    each = _checks.size(EA, f"{where}: EA") / length
    return [(BeamMode(shape, _tuples(e), _NONE), each) for shape in bending.axial(_count(count, where))]


def _integrals(modes: list[BeamMode], mass: float, axial: float, e: Array, length: float) -> dict[str, Array]:
    """Over the mass, for ModalBody(); cross-sections have the inertia `axial`, half of it about each of their axes.

    squares: of an axial mode the integral of the squared slope over s, of bending that of the squared value, by which
    b^4 E I / L^3 becomes its stiffness.
    """
    s, weights = np.polynomial.legendre.leggauss(_nodes(len(modes)))
    s, weights = 0.5 * (s + 1.0), 0.5 * weights
    values = np.array([[mode.shape.derivative(0, x) for x in s.tolist()] for mode in modes])
    slopes = np.array([[mode.shape.derivative(1, x) for x in s.tolist()] for mode in modes])
    slide, twist = (np.array([getattr(mode, what) for mode in modes]) for what in ("slide", "twist"))
    turn = skew(e)
    turning = np.abs(twist).sum(axis=1)  # 1 of a mode of torsion: it moves rho by e x rho
    product = mass * np.einsum("js,ks,s,ja,kb->jkab", values, values, weights, slide, slide)
    product += axial / 2 * np.einsum("js,ks,s,j,k,ab->jkab", values, values, weights, turning, turning, -turn @ turn)
    moment = mass * length * np.einsum("ks,s,s,a,kb->kab", values, s, weights, e, slide)
    moment += axial / 2 * np.einsum("ks,s,k,ab->kab", values, weights, turning, -turn)
    bends = np.array([isinstance(mode.shape, bending.Bending) for mode in modes])
    return {
        "shape_mass": mass * np.einsum("ks,s,ka->ka", values, weights, slide),
        "shape_moment": moment,
        "shape_product": product,
        "squares": np.where(bends, values**2 @ weights, slopes**2 @ weights),
    }


def _nodes(modes: int) -> int:
    """Of Gauss points on a beam, which integrate products of its modes to round-off."""
    return 24 + 8 * modes


def _ratios(value: float | Sequence[float], n: int, where: str) -> tuple[float, ...]:
    values = _checks.numbers(value, n, f"{where}: damping_ratio") if np.ndim(value) else (value,) * n
    return tuple(_checks.not_negative(v, f"{where}: damping_ratio") for v in values)
