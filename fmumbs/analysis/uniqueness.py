"""Which reactions of a mechanism a rigid model determines, and how to make the others unique.

The force of a coupling is unique if no self-stress has a part along it. So is that of a law that sticks, as a brake
does at rest: while it sticks it holds its coordinate like a coupling of that one alone, so that its force, on a joint
that loops lock or where another law holds the same motion, is a choice.

A reaction is unique if no self-stress (self_stress.py) passes through its joint; a component is unique if no
self-stress has a part along it. A set of joints is unique in total if the resultant of its reactions is: among the
joints of a body that all of them are on, preferably the ground, the self-stresses are then a direct sum of those in the
set and those in the others, rank(T) + rank(R) = rank (Eq 27).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fmumbs import _checks
from fmumbs.analysis.placed import GROUND, Array, Placed
from fmumbs.analysis.self_stress import CLEAR, Gap, SelfStress, null_space, self_stress
from fmumbs.analysis.summary import summary
from fmumbs.errors import ModelError

NEAR = 1e-2  # a position is singular if its smallest singular value is below this, relative to neighbouring positions
COMPONENT = 1e-7  # a smaller component of a unit direction is round-off

_AXES = ("x", "y", "z")


@dataclass(frozen=True)
class JointReaction:
    """The verdict on one joint.

    unique: the whole reaction. components_unique: (6,) of J.reaction.f[1..3] and .t[1..3]. constraints: their number.
    indeterminate_dimension: number of directions that the model does not determine. directions: (6, that many)
    orthonormal, (force, torque / length) at M in F's axes. length: divides torques [m].
    """

    joint: str
    unique: bool
    components_unique: tuple[bool, ...]
    constraints: int
    indeterminate_dimension: int
    directions: Array
    length: float


@dataclass(frozen=True)
class SetReaction:
    """The verdict on the reactions of some joints together.

    unique: in total; components_unique: all components of all of them; indeterminate_dimension: number of directions
    of all their components that the model does not determine. among: the body whose joints were compared.
    """

    joints: tuple[str, ...]
    unique: bool
    components_unique: bool
    indeterminate_dimension: int
    among: str


@dataclass(frozen=True)
class Fix:
    """A joint and the directions to free, (6, n) as in JointReaction, and as text; or a coupling to leave out."""

    joint: str
    directions: Array
    text: str


@dataclass(frozen=True)
class ForceVerdict:
    """The verdict on the force of a coupling, or of a law on a joint while it sticks.

    name: of the coupling or the law. kind: "coupling" or "law". unique: whether the rigid model determines it.
    """

    name: str
    kind: str
    unique: bool


@dataclass(frozen=True, repr=False)
class Uniqueness:
    """The verdict on the constraint rows of all joints; print() shows a short table.

    placed, stress: what it was found from: the placed bodies and joints, and their self-stresses. laws: of the forces
    of laws that can stick.
    rows: number of constraint rows; rank: number of independent rows; redundant: rows - rank, the degree of redundancy.
    mobility: degrees of freedom; gruebler: the same by Grübler's count. gap: in the singular values that decided the
    rank. nearby, nearby_kept: ranks at neighbouring positions, and their smallest counted singular values.
    """

    placed: Placed
    stress: SelfStress
    nearby: tuple[int, ...] = ()
    nearby_kept: tuple[float, ...] = ()
    laws: tuple[ForceVerdict, ...] = ()

    def __str__(self) -> str:
        return summary(self)

    def __repr__(self) -> str:
        unique = sum(joint.unique for joint in self.joints)
        return (
            f"<Uniqueness: {self.rank} of {self.rows} rows independent, mobility {self.mobility}, "
            f"reactions of {unique} of {len(self.joints)} joints unique>"
        )

    @property
    def rows(self) -> int:
        return self.placed.rows

    @property
    def rank(self) -> int:
        return self.rows - self.stress.degree

    @property
    def redundant(self) -> int:
        return self.stress.degree

    @property
    def mobility(self) -> int:
        return self.placed.dof - self.rank

    @property
    def gruebler(self) -> int:
        return self.placed.dof - self.rows

    @property
    def gap(self) -> Gap:
        return self.stress.gap

    @property
    def singular(self) -> bool:
        """Whether the rank drops at this position, or nearly does: a singular value is much smaller than nearby."""
        near = self.nearby_kept and self.gap.kept < NEAR * max(self.nearby_kept)
        return any(rank != self.rank for rank in self.nearby) or bool(near) or self.gap.ratio < CLEAR

    @cached_property
    def joints(self) -> tuple[JointReaction, ...]:
        """The verdict on each joint, in the order of `placed`."""
        return tuple(
            _reaction(name, span.shape[1], image, float(length))
            for name, span, image, length in zip(
                self.placed.joints, self.placed.spans, self.stress.images, self.stress.lengths, strict=True
            )
        )

    @property
    def components_unique(self) -> NDArray[np.bool_]:
        """(joints, 6) as in JointReaction."""
        found = np.ones((len(self.placed.joints), 6), bool)
        some = [j for j, image in enumerate(self.stress.images) if image.shape[1]]
        if some:
            images = [self.stress.images[j] for j in some]
            starts = np.cumsum([0, *(image.shape[1] for image in images[:-1])])
            found[some] = _unique(np.add.reduceat(np.hstack(images) ** 2, starts, axis=1))
        return found

    @property
    def forces(self) -> tuple[ForceVerdict, ...]:
        """The verdict on the force of each coupling and of each law that can stick."""
        names = enumerate(one.name for one in self.placed.couplings)
        return (*(ForceVerdict(name, "coupling", k not in self.stress.loose) for k, name in names), *self.laws)

    @property
    def rigid(self) -> tuple[str, ...]:
        """Bodies with unique reactions only, which may stay rigid in a model that determines all reactions."""
        flexible = set(self.flexible)
        return tuple(body for body in self.placed.bodies if body not in flexible)

    @property
    def flexible(self) -> tuple[str, ...]:
        """Bodies to make flexible so that every reaction is determined."""
        found = {
            body
            for joint, reaction in enumerate(self.joints)
            if not reaction.unique
            for body in (int(self.placed.F[joint]), int(self.placed.M[joint]))
        }
        return tuple(name for body, name in enumerate(self.placed.bodies) if body in found)

    @cached_property
    def fixes(self) -> tuple[Fix, ...]:
        """Directions to free in joints: with all of them every reaction is unique, and the motion is unchanged."""
        out = []
        for joint, scaled in sorted(self.stress.fixes.items()):
            if joint >= len(self.placed.joints):
                name = self.placed.couplings[joint - len(self.placed.joints)].name
                out.append(Fix(name, np.zeros((6, 0)), ""))
                continue
            directions = _aligned(_force_first(scaled))
            out.append(Fix(self.placed.joints[joint], directions, _words(directions)))
        return tuple(out)

    def fixed(self) -> Placed:
        """The mechanism without the directions that the fixes release."""
        freed, count = {}, len(self.placed.joints)
        for joint, scaled in self.stress.fixes.items():
            if joint >= count:
                continue
            length = self.stress.lengths[joint]
            freed[joint] = np.linalg.qr(np.vstack([length * scaled[:3], scaled[3:]]))[0] if scaled.size else scaled
        kept = [one for k, one in enumerate(self.placed.couplings) if count + k not in self.stress.fixes]
        return replace(self.placed.without(freed), couplings=tuple(kept))

    def set_of(self, names: Sequence[str]) -> SetReaction:
        """The verdict on the reactions of the joints `names` together. Raises ModelError for an unknown joint."""
        for name in names:
            if name not in self.placed.joints:
                raise ModelError(f"there is no joint '{name}'. {_checks.nearest(name, self.placed.joints)}")
        if not names:
            raise ModelError("the set of joints is empty. Name one joint or more.")
        chosen = sorted({self.placed.joints.index(name) for name in names})
        body, others = self._others(chosen)
        null, _ = null_space(self.placed)
        T, R = (np.vstack([np.zeros((0, null[0].shape[1])), *(null[j] for j in some)]) for some in (chosen, others))
        tolerance = self.gap.tolerance
        rank, rank_T, rank_R = (_rank(rows, tolerance) for rows in (np.vstack([T, R]), T, R))
        return SetReaction(
            joints=tuple(self.placed.joints[j] for j in chosen),
            unique=rank_T + rank_R == rank,
            components_unique=rank_T == 0,
            indeterminate_dimension=rank_T,
            among=body,
        )

    def _others(self, chosen: list[int]) -> tuple[str, list[int]]:
        """The other joints of a body that all chosen joints are on; if there is none, all other joints."""
        common = set.intersection(*({int(self.placed.F[j]), int(self.placed.M[j])} for j in chosen))
        if not common:
            return "all", [j for j in range(len(self.placed.joints)) if j not in chosen]
        body = min(common)  # the ground comes first
        name = "ground" if body == GROUND else self.placed.bodies[body]
        return name, [j for j in self.placed.at[body] if j not in chosen]


def uniqueness(placed: Placed) -> Uniqueness:
    """The verdict on a mechanism at one position."""
    found = Uniqueness(placed, self_stress(placed))
    if not placed.holding:
        return found
    held = replace(placed, couplings=(*placed.couplings, *placed.holding))
    loose, first = self_stress(held).loose, len(placed.couplings)
    laws = (ForceVerdict(law.name, "law", first + k not in loose) for k, law in enumerate(placed.holding))
    return replace(found, laws=tuple(laws))


def _rank(rows: Array, tolerance: float) -> int:
    values = np.linalg.svd(rows, compute_uv=False) if rows.size else np.zeros(0)
    return int(np.sum(values > tolerance * max(1.0, *values))) if values.size else 0


def _force_first(columns: Array) -> Array:
    return np.vstack([columns[3:], columns[:3]])


def _reaction(name: str, constraints: int, image: Array, length: float) -> JointReaction:
    unique: tuple[bool, ...] = tuple(_unique(np.sum(image**2, axis=1, keepdims=True))[0].tolist())
    return JointReaction(
        joint=name,
        unique=image.shape[1] == 0,
        components_unique=unique,
        constraints=constraints,
        indeterminate_dimension=image.shape[1],
        directions=_aligned(_force_first(image)),
        length=length,
    )


def _unique(squares: Array) -> NDArray[np.bool_]:
    """(n, 6) the components f and t without a part of a self-stress; squares: (6, n) of its parts, torques first."""
    return np.sqrt(_force_first(squares)).T <= COMPONENT


def _aligned(directions: Array) -> Array:
    """The same span by sparser columns: coordinate axes if they are in the span."""
    count = directions.shape[1]
    if not count:
        return directions
    beside = np.linalg.norm(np.eye(6) - directions @ directions.T, axis=0)  # of each axis: its distance from the span
    axes = np.eye(6)[:, beside < COMPONENT]
    rest = directions - axes @ (axes.T @ directions)
    u, _, _ = np.linalg.svd(rest)
    found = np.hstack([axes, u[:, : count - axes.shape[1]]])
    return np.where(np.abs(found) < COMPONENT, 0.0, found)


def _words(directions: Array) -> str:
    """Directions of (force, torque) as text."""
    words = []
    for column in directions.T:
        k = int(np.abs(column).argmax())
        if np.linalg.norm(np.delete(column, k)) < COMPONENT:
            words.append(f"{'force along' if k < 3 else 'torque about'} {_AXES[k % 3]}")
            continue
        parts = []
        for what, part in (("force along", column[:3]), ("torque about", column[3:])):
            if np.linalg.norm(part) > COMPONENT:
                sign = np.sign(part[np.abs(part).argmax()])
                unit = sign * part / np.linalg.norm(part)
                parts.append(f"{what} ({', '.join(f'{v:.3g}' for v in unit + 0.0)})")
        words.append(" with ".join(parts))
    return ", ".join(words)
