"""The base class of joints with several scalar modes: positions, velocities and laws have one entry for each mode."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fmumbs import _checks
from fmumbs.errors import ModelError
from fmumbs.mechanism.given import Unset, UnsetNumbers
from fmumbs.mechanism.joints.base import LAWS, JointBase, LawName


@dataclass(frozen=True)
class MultiModeJoint(JointBase):
    """A joint with several scalar modes.

    q0: (positions,) of the free modes in their order [rad] or [m]; u0: (velocities,) [rad/s] or [m/s].
    stiffness, damping, rest, rotor_inertia: one for each free mode (not each velocity, if it is nonholonomic), or a
    single number if all of them turn or all of them slide.
    """

    q0: Sequence[float] | None = field(default=None, kw_only=True)
    u0: Sequence[float] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for law in LAWS:
            if not isinstance(getattr(self, law), tuple):
                self._store(law, (0.0,) * len(self.free_modes))
        for what, size in (("q0", self.positions), ("u0", self.velocities)):
            given = getattr(self, what)
            if given is None or (isinstance(given, UnsetNumbers) and len(given) != size):
                self._store(what, UnsetNumbers((0.0,) * size))
            elif not isinstance(given, Unset):
                self._store(what, _checks.numbers(given, size, self._where(what)))
        for what in ("q0", "rest"):
            self._ask_if_degrees(what)

    def _check_law(self, law: LawName, value: object) -> None:
        free, where = self.free_modes, self._where(law)
        if isinstance(value, str | bytes) or not isinstance(value, Iterable):
            number = _checks.number(value, where)
            if number != 0.0 and len({mode.linear for mode in free}) > 1:
                raise ModelError(
                    f"{where} is the single number {number:g}, but some modes turn and others slide. "
                    f"Give {len(free)} numbers, one for each free mode."
                )
            value = (number,) * len(free)
        given = enumerate(_checks.numbers(value, len(free), where))
        numbers = tuple(_checks.parameter("joint", law, v, f"{where}[{i + 1}]") for i, v in given)
        if any(numbers) and law not in self._laws:
            raise ModelError(self._has_no(law, next(v for v in numbers if v)))
        self._store(law, numbers)

    @property
    def start_positions(self) -> tuple[float, ...]:
        return tuple(self.q0 or ())

    @property
    def start_velocities(self) -> tuple[float, ...]:
        return tuple(self.u0 or ())
