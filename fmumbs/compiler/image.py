"""ModelImage: a compiled mechanism, as the bytes that the core reads."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from fmumbs._files import whole
from fmumbs.compiler.layout import ffi, hash_fits, image_hash, lib, open_instance, pack, text_at, unpack
from fmumbs.compiler.options import RunOptions, given, takes_options, with_settings
from fmumbs.compiler.variables import Variables, starts_at_rest
from fmumbs.errors import ModelError
from fmumbs.finite_elements.mode_table import ModeRow, mode_table
from fmumbs.mechanism.declared import DefaultExperiment

if TYPE_CHECKING:
    from fmumbs.scene import Scene


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
    def scene(self) -> "Scene":
        """What the mechanism looks like: its bodies as they were described, and symbols of its joints.

        Raises ModelError for an image whose scene was written by another program.
        """
        from fmumbs.scene import Scene

        try:
            return Scene.from_json(self.scene_text)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            what = f"the scene in the image of '{self.name}' is damaged: {error}"
            raise ModelError(f"{what}. Compile it again.") from error

    @property
    def scene_text(self) -> str:
        """The scene as it is stored."""
        return self._text("model_scene")

    def _text(self, which: str) -> str:
        return text_at(self.arrays["text"].tobytes(), int(self.arrays[which][0]))

    @property
    def cut_joints(self) -> tuple[str, ...]:
        """Names of the cut joints, which close loops and are not part of the spanning tree."""
        names, text = self.arrays["joint_name"], self.arrays["text"].tobytes()
        return tuple(text_at(text, int(at)) for at in names[self.arrays["joint_first"] < 0])

    @cached_property
    def modes(self) -> dict[str, tuple[ModeRow, ...]]:
        """The table of modes of each flexible body, as ModalBody.table."""
        a, text, found = self.arrays, self.arrays["text"].tobytes(), {}
        body_of = {int(link): body for body, link in enumerate(a["body_link"])}
        for modal, link in enumerate(a["modal_link"].tolist()):
            n, first, body = int(a["modal_shapes"][modal]), int(a["modal_shape"][modal]), body_of[link]
            all_shapes, pair = n + int(a["modal_seconds"][modal]), int(a["modal_pair"][modal])
            own, axes = slice(first, first + n), a["body_R"][body].reshape(3, 3)
            K, M, D = (
                a[f"pair_{what}"][pair : pair + all_shapes**2].reshape(all_shapes, all_shapes)[:n, :n]
                for what in ("stiffness", "mass", "damping")
            )
            linear = a["shape_first"][own] @ axes
            moment = axes.T @ a["shape_moment"][own].reshape(n, 3, 3) @ axes
            kinds = tuple(text_at(text, at) for at in a["shape_kind"][own].tolist())
            mass, inertia = float(a["mass"][body]), float(a["inertia"][body, :3].sum())
            name = text_at(text, int(a["body_name"][body]))
            found[name] = mode_table(K, M, D, linear, moment, a["com"][body], mass, inertia, kinds)
        return found

    @cached_property
    def variables(self) -> Variables:
        return Variables(self.arrays, self.borrow)

    def take_names(self, other: "ModelImage") -> None:
        """Takes over what is known about the names of `other`, an image with the same variables and texts."""
        self.variables = other.variables.of(self.arrays, self.borrow)

    @cached_property
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

    def take_instance(self, derivatives: bool = False) -> Any:
        """A new instance of the core, owned by the caller; with what exact derivatives need, if asked."""
        if derivatives:
            return open_instance(self.bytes, derivatives)
        try:
            return self._spare.pop()
        except IndexError:
            return open_instance(self.bytes)

    @contextmanager
    def borrow(self) -> Iterator[Any]:
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
        with self.borrow() as instance:
            if lib.fm_check_parameters(instance) != lib.FM_OK or lib.fm_check_inertia(instance) != lib.FM_OK:
                raise ModelError(f"Model '{self.name}': {ffi.string(lib.fm_message(instance)).decode()}.")

    @takes_options
    def with_options(self, **options: Unpack[RunOptions]) -> "ModelImage":
        """The same mechanism with other options of its runs; None keeps an option.

        {options}

        Raises ModelError for a value that an option cannot have, and for `locked`, which compile() takes.
        """
        chosen = given(options)
        if "locked" in chosen:
            raise ModelError(
                f"locked is part of the image '{self.name}'. Give the Model, or compile(model, locked=...)."
            )
        return ModelImage(pack(self.sizes, with_settings(self.name, self.arrays, chosen))) if chosen else self

    def save(self, path: "str | os.PathLike[str]") -> Path:
        """Writes the bytes to a file, `path`, which appears when it is complete. Raises OSError."""
        with whole(Path(path)) as file:
            file.write(self.bytes)
        return Path(path)

    @classmethod
    def load(cls, source: "str | os.PathLike[str] | bytes | bytearray | memoryview") -> "ModelImage":
        """An image from `source`, its bytes or the path of a file. Raises ModelError for anything but an image."""
        return cls(bytes(source) if isinstance(source, bytes | bytearray | memoryview) else Path(source).read_bytes())
