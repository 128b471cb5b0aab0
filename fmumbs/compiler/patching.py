"""Images of models that differ from one that is compiled in numbers alone: runs of a sweep over parameters of build().

The tree, names, the table of variables and the scene are those of the first image, and so is what the compiler finds
out about its start: which reactions are unique, and which start values hold. All numbers are the model's own, so that a
run has the same bits as by compile(). Numbers whose zeros are elsewhere are another structure, as a joint without a
spring has fewer variables.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fmumbs._limits import LARGEST
from fmumbs.compiler.compiling import WITHOUT_BOUND, parts_of, without_collection
from fmumbs.compiler.image import ModelImage
from fmumbs.compiler.layout import HEADER, Arrays, counted, extents, lib, pack
from fmumbs.compiler.options import RunOptions, given
from fmumbs.mechanism import JointBase, Model

_VARIABLES = ("variable_kind", "variable_object", "variable_component", "variable_name")
_FOUND = (lib.FM_J_UNIQUE_F, lib.FM_J_UNIQUE_T)  # variables that the compiler finds out
_WORD = 8  # bytes; the image's arrays begin at multiples


class Structure:
    """What models have in common with one that is compiled: `image` of `model`."""

    def __init__(self, model: Model, image: ModelImage) -> None:
        self._image, self._declared = image, _declared(model)
        words = len(image.bytes) // _WORD
        self._numbers, self._bounded = np.zeros(words, bool), np.zeros(words, bool)  # which words are
        for column, at, count in extents(image.sizes):
            if column.dtype == np.float64:
                self._numbers[at // _WORD : at // _WORD + count] = True
                self._bounded[at // _WORD : at // _WORD + count] = column.name not in WITHOUT_BOUND
        self._others = ~self._numbers
        self._others[: HEADER // _WORD] = False
        self._zeros = np.frombuffer(image.bytes, np.float64)[self._numbers] == 0.0

    @without_collection
    def patched(self, model: Model, shown: Sequence[str], options: RunOptions) -> ModelImage | None:
        """The image of another model with options of compile(). shown: names of variables that must be right beside
        the outputs. None if it is of another structure, and where compile() would refuse it, or may.
        """
        if _declared(model) != self._declared or any(map(_may_be_refused, model.joints)) or self._finds(shown):
            return None
        arrays = self._completed(parts_of(model, given(options), {}, self._image.scene_text).arrays)
        if arrays is None or counted(arrays) != self._image.sizes:
            return None
        data = pack(self._image.sizes, arrays)
        if not self._fits(data):
            return None
        image = ModelImage(data)
        image.take_names(self._image)
        image.check()
        return image

    def _finds(self, names: Sequence[str]) -> bool:
        """Whether the compiler finds out any of these variables about the start."""
        if not names:
            return False
        variables = self._image.variables
        references = [i for name in names for i in variables.references(name)]
        return bool(np.isin(self._image.arrays["variable_kind"][references], _FOUND).any())

    def _completed(self, arrays: Arrays) -> Arrays | None:
        """The arrays with the texts, variables and findings of the first image; None if given values are others."""
        own = self._image.arrays
        if not own["text"].tobytes().startswith(arrays["text"].tobytes()):
            return None
        if any(((arrays[name] != 0) != (own[name] != 0)).any() for name in ("given_p", "given_u")):
            return None
        return arrays | {name: own[name] for name in ("text", "joint_unique", "given_p", "given_u", *_VARIABLES)}

    def _fits(self, data: bytes) -> bool:
        """Whether an image of the same sizes has the same structure, and numbers within their bounds."""
        words, known = (np.frombuffer(one, np.uint64) for one in (data, self._image.bytes))
        values = np.frombuffer(data, np.float64)
        return (
            np.array_equal(words[self._others], known[self._others])
            and np.array_equal(values[self._numbers] == 0.0, self._zeros)
            and bool((np.abs(values[self._bounded]) <= LARGEST).all())
        )


def _declared(model: Model) -> tuple[Any, ...]:
    """What decides about the table of variables beside the arrays."""
    return [replace(variable, start=None) for variable in model.declared], model.inner


def _may_be_refused(joint: JointBase) -> bool:
    """Whether a joint has friction on its own reaction, which must be unique."""
    friction = joint.friction
    return friction is not None and not friction.insist and any(any(contact.own) for contact in joint.contacts)
