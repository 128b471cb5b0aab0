"""ModelImage: a compiled mechanism, as the bytes that the core reads."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from fmumbs import _checks
from fmumbs._files import whole
from fmumbs.compiler.layout import Arrays, ffi, hash_fits, image_hash, lib, open_instance, pack, text_at, unpack
from fmumbs.compiler.schemes import scheme_number
from fmumbs.compiler.variables import Variables, starts_at_rest
from fmumbs.errors import ModelError
from fmumbs.mechanism.declared import DefaultExperiment
from fmumbs.scene import Scene

CORRECTIONS: dict[str, int] = {
    "direct": lib.FM_CORRECT_DIRECTLY, "baumgarte": lib.FM_CORRECT_BAUMGARTE, "off": lib.FM_CORRECT_NEVER,
}  # fmt: skip

PROGRAMS: dict[str, float] = {"held": 1.0, "released": 2.0}
"""Values of solver.equilibrium by what programs do in it."""

DYNAMICS: dict[str, int] = {"riccati": lib.FM_RICCATI, "copcod": lib.FM_COPCOD}


class ModelImage:
    """A compiled mechanism: immutable bytes, the same in Python and in an FMU.

    Made by compile() or ModelImage.load(). data: the bytes. Raises ModelError for bytes that are not an image, of
    another version, damaged, or altered: the hash in the header must be the SHA-256 of the bytes after the header.
    """

    def __init__(self, data: bytes) -> None:
        self.bytes = bytes(data)
        self._spare = [open_instance(self.bytes)]  # the core checks the bytes; take_instance() returns this instance
        if not hash_fits(self.bytes):
            raise ModelError(
                f"the model image was altered: its SHA-256 is not {image_hash(self.bytes)[:12]}..., as in its header. "
                "Compile the model again."
            )
        self.sizes, self.arrays = unpack(self.bytes)

    def __repr__(self) -> str:
        return f"ModelImage({self.name!r}, {len(self.bytes)} bytes, {self.hash[:8]})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModelImage) and self.bytes == other.bytes

    def __hash__(self) -> int:
        return hash(self.bytes)

    def __reduce__(self) -> tuple[type["ModelImage"], tuple[bytes]]:
        return ModelImage, (self.bytes,)

    @property
    def hash(self) -> str:
        """SHA-256 of the bytes after the header."""
        return image_hash(self.bytes)

    @property
    def guid(self) -> str:
        """The FMU's GUID, from the hash."""
        h = self.hash
        return f"{{{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:32]}}}"

    @property
    def name(self) -> str:
        return self._text("model_name")

    @property
    def description(self) -> str:
        return self._text("model_text")

    @cached_property
    def scene(self) -> Scene:
        """What the mechanism looks like: its bodies as they were described, and symbols of its joints.

        Raises ModelError for an image whose scene was written by another program.
        """
        try:
            return Scene.from_json(self._text("model_scene"))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            what = f"the scene in the image of '{self.name}' is damaged: {error}"
            raise ModelError(f"{what}. Compile it again.") from error

    def _text(self, which: str) -> str:
        return text_at(self.arrays["text"].tobytes(), int(self.arrays[which][0]))

    @property
    def cut_joints(self) -> tuple[str, ...]:
        """Names of the cut joints, which close loops and are not part of the spanning tree."""
        names, text = self.arrays["joint_name"], self.arrays["text"].tobytes()
        return tuple(text_at(text, int(at)) for at in names[self.arrays["joint_first"] < 0])

    @cached_property
    def variables(self) -> Variables:
        return Variables(self.arrays, self._borrow)

    @property
    def default_experiment(self) -> DefaultExperiment:
        """Stop time and communication interval [s], relative tolerance."""
        return DefaultExperiment(*(float(v) for v in self.arrays["experiment"][0]))

    @property
    def tolerance(self) -> float:
        """Relative tolerance of the integration."""
        return float(self.arrays["options"].flat[lib.FM_OPTION_TOLERANCE])

    @property
    def equilibrium(self) -> bool:
        """Whether the motion starts at rest in the static equilibrium near the start values."""
        return starts_at_rest(self.arrays)

    def take_instance(self) -> Any:
        """A new instance of the core, owned by the caller."""
        try:
            return self._spare.pop()
        except IndexError:
            return open_instance(self.bytes)

    @contextmanager
    def _borrow(self) -> Iterator[Any]:
        """An instance in its initial state, which must not be changed."""
        instance = self.take_instance()
        try:
            yield instance
        finally:
            self._spare[:] = [instance]

    def check(self) -> None:
        """Raises ModelError if parameters break a rule on several of them, and if a free mode has no inertia at any
        position.
        """
        with self._borrow() as instance:
            if lib.fm_check_parameters(instance) != lib.FM_OK or lib.fm_check_inertia(instance) != lib.FM_OK:
                raise ModelError(f"Model '{self.name}': {ffi.string(lib.fm_message(instance)).decode()}.")

    def with_options(
        self,
        *,
        scheme: str | int | None = None,
        step: float | None = None,
        tolerance: float | None = None,
        correction: str | tuple[float, float] | None = None,
        closure: float | None = None,
        equilibrium: bool | None = None,
        programs: str | None = None,
        dynamics: str | None = None,
        deformation: float | None = None,
    ) -> "ModelImage":
        """The same mechanism with other integration options; None keeps an option.

        scheme: "dopri5", of order 5, for most mechanisms; "radau", of order 5, for stiff mechanisms; "auto", dopri5 or
            radau, whichever advances further for its cost; "dop853", of order 8, for tolerances below about 1e-7;
            "rk4", of order 4, with fixed steps.
        step: the longest fixed step [s]. tolerance: relative, of the other schemes.
        correction: how loops are kept closed: "direct", "off", "baumgarte", or (alpha, beta) [1/s] of Baumgarte's
            stabilisation, c'' + 2 alpha c' + beta^2 c = 0.
        closure: tolerance of the direct correction, relative to the model's length.
        equilibrium: whether the motion starts at rest in the static equilibrium near the start values, which the core
            then searches with the values of parameters and inputs that are set.
        programs: what they do in that equilibrium. "held": they hold where their paths begin, or with a transition
            where the mechanism starts, and their ideal drives carry what the sag of supports and links would change
            there. "released": their drives exert nothing, and all sags; the motion begins there, off the path by a
            deviation that a transition fades out. A program without a transition is refused then, with the deviation.
            Excited modes stand in either case.
        dynamics: how accelerations are found: "riccati", by sweeps that are linear in the number of bodies, with
            Lagrange multipliers for loops; "copcod", from the reduced form N' (M q'' - h - Q) = 0 in independent
            coordinates, of the third order in their number, for comparison.
        deformation: rotation [rad] or strain, by one mode of a flexible body or in one element of a flexible link,
            above which a run warns.

        Raises ModelError for an unknown scheme, correction or dynamics, and for a number that is not positive.
        """
        chosen = (
            scheme, step, tolerance, correction, closure, equilibrium, programs, dynamics, deformation,
        )  # fmt: skip
        if all(option is None for option in chosen):
            return self
        options = self.arrays["options"].reshape(-1).copy()
        if scheme is not None:
            options[lib.FM_OPTION_SCHEME] = scheme_number(scheme)
        if step is not None:
            options[lib.FM_OPTION_STEP] = _checks.parameter("model", "solver.step", step, f"'{self.name}': step")
        if tolerance is not None:
            where = f"'{self.name}': tolerance"
            options[lib.FM_OPTION_TOLERANCE] = _checks.parameter("model", "solver.tolerance", tolerance, where)
        present = float(options[lib.FM_OPTION_EQUILIBRIUM])
        options[lib.FM_OPTION_EQUILIBRIUM] = rest_option(self.name, equilibrium, programs, present)
        if dynamics is not None:
            options[lib.FM_OPTION_DYNAMICS] = dynamics_number(dynamics)
        if deformation is not None:
            where = f"'{self.name}': deformation"
            options[lib.FM_OPTION_DEFORMATION] = _checks.parameter("model", "solver.deformation", deformation, where)
        closing = self.arrays["closure"].reshape(-1).copy()
        if isinstance(correction, tuple):
            pair = _checks.numbers(correction, 2, f"'{self.name}': correction")
            where = f"'{self.name}': correction"
            checked = [_checks.parameter("model", "solver.baumgarte", value, where) for value in pair]
            closing[lib.FM_CLOSURE_ALPHA], closing[lib.FM_CLOSURE_BETA] = checked
            correction = "baumgarte"
        if correction is not None:
            closing[lib.FM_CLOSURE_CORRECTION] = correction_number(correction)
        if closure is not None:
            where = f"'{self.name}': closure"
            closing[lib.FM_CLOSURE_TOLERANCE] = _checks.parameter("model", "solver.closure", closure, where)
        arrays: Arrays = self.arrays | {"options": options, "closure": closing}
        return ModelImage(pack(self.sizes, arrays))

    def save(self, path: "str | os.PathLike[str]") -> Path:
        """Writes the bytes to a file, `path`, which appears when it is complete. Raises OSError."""
        with whole(Path(path)) as file:
            file.write(self.bytes)
        return Path(path)

    @classmethod
    def load(cls, source: "str | os.PathLike[str] | bytes | bytearray | memoryview") -> "ModelImage":
        """An image from `source`, its bytes or the path of a file. Raises ModelError for anything but an image."""
        return cls(bytes(source) if isinstance(source, bytes | bytearray | memoryview) else Path(source).read_bytes())


def correction_number(correction: str) -> int:
    """The number of a loop correction. Raises ModelError, with the known names, for an unknown one."""
    if correction in CORRECTIONS:
        return CORRECTIONS[correction]
    raise ModelError(f"correction {correction!r} is unknown. Choose one of: {', '.join(CORRECTIONS)}.")


def dynamics_number(dynamics: str) -> int:
    """The number of a formulation. Raises ModelError, with the known names, for an unknown one."""
    if dynamics in DYNAMICS:
        return DYNAMICS[dynamics]
    raise ModelError(f"dynamics {dynamics!r} is unknown. Choose one of: {', '.join(DYNAMICS)}.")


def rest_option(name: str, equilibrium: bool | None, programs: str | None, present: float = 0.0) -> float:
    """The value of solver.equilibrium; None: as at present. name: of the model.

    Raises ModelError for an unknown word, and for released programs without an equilibrium.
    """
    if programs is not None and programs not in PROGRAMS:
        raise ModelError(f"programs {programs!r} is unknown. Choose one of: {', '.join(PROGRAMS)}.")
    if not (present if equilibrium is None else equilibrium):
        if programs == "released":
            raise ModelError(f"Model '{name}': programs='released' is given without equilibrium=True. Give it as well.")
        return 0.0
    return PROGRAMS[programs] if programs is not None else present or PROGRAMS["held"]
