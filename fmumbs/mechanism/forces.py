"""Forces between points and on bodies.

A spring between P and Q at the distance l pulls them together with f = stiffness (l - free_length) + damping
dl/dt along their line. A load is a force and a torque that the model's inputs set, in fixed directions or in
directions that turn with its point, such as the thrust of a jet (a follower load).

Springs cannot be connected in series or at a massless junction. Put a body of small mass m between them, on a joint of
three slides; or on a prismatic joint for a spring and a damper in series. The body settles within about
sqrt(m / stiffness) or m / damping, which limits the integration step; start it in equilibrium.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.bodies import Ground, Point, point
from fmumbs.mechanism.element import Element

__all__ = ["Load", "Spring"]

LoadAxes = Literal["world", "point"]


class Force(Element):
    """A force element between points of bodies.

    Its class, in small letters, is what its arrays in the image are called after: NAME_FIELD for each of its fields,
    a Point being the index of one, and a word its place among the `words` of its field, which an enum of C has in the
    same order (fmumbs/core/image/table.h).
    """

    @property
    def ends(self) -> tuple[Point, ...]:
        """The points that it acts at."""
        return tuple(value for value in self.fields.values() if isinstance(value, Point))

    @property
    def fields(self) -> dict[str, Any]:
        """What it has beside its name, words as numbers."""
        found = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "name"}
        worded = ((one.name, one.metadata["words"]) for one in fields(self) if "words" in one.metadata)
        return found | {name: words.index(found[name]) for name, words in worded}


@dataclass(frozen=True)
class Spring(Force):
    """A spring and damper along the line between two points.

    P, Q: points on two different bodies. stiffness [N/m]: below 0 for a spring that has buckled, whose force falls as
    it is pressed on; damping [N.s/m], free_length [m]: at least 0. All are tunable parameters. Outputs: length [m] and
    f [N], positive in tension. Raises ModelError for two points on one body.
    """

    P: Point
    Q: Point
    stiffness: float = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    free_length: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        point(self.P, self._where("P"))
        point(self.Q, self._where("Q"))
        if self.P.body.name == self.Q.body.name:
            raise ModelError(
                f"{self._where('P and Q')} are both on '{self.P.body.name}', so it has no effect. "
                "Give points on two different bodies."
            )
        for law in ("stiffness", "damping", "free_length"):
            self._store(law, _checks.parameter("spring", law, getattr(self, law), self._where(law)))


@dataclass(frozen=True)
class Load(Force):
    """A force at a point and a torque on its body.

    P: the point, on a body. force: (3,) [N] and torque: (3,) [N.m] are the start values of the inputs
    NAME.force[1..3] and NAME.torque[1..3]. axes: "world" for both in the world's axes; "point" for both in the axes of
    P, with which they turn, as the thrust of a jet does. Such a follower load has no potential: under it a mechanism
    at rest may lose its stability by vibrations that grow (flutter), which fm.equilibrium and fm.linearize tell.

    Raises ModelError for a point on the ground, and for axes that are neither.
    """

    P: Point
    force: Sequence[float] = field(default=(0.0, 0.0, 0.0), kw_only=True)
    torque: Sequence[float] = field(default=(0.0, 0.0, 0.0), kw_only=True)
    axes: LoadAxes = field(default="world", kw_only=True, metadata={"words": get_args(LoadAxes)})

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(point(self.P, self._where("P")).body, Ground):
            raise ModelError(
                f"{self._where('P')} is on the ground, which a load cannot move. Give a point on a body."
            )
        self._store("force", _checks.vector(self.force, self._where("force")))
        self._store("torque", _checks.vector(self.torque, self._where("torque")))
        _checks.choice(self.axes, get_args(LoadAxes), self._where("axes"))


FORCES: tuple[type[Force], ...] = (Spring, Load)
"""In the image's order."""
