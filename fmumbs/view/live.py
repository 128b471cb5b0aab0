"""What makes a page alive: the core as WebAssembly and the model image, deflated (RFC 1951) and in base64.

The core is the FMU binary of the platform wasm32-wasi, about 250 kB deflated. An installation that was built without
zig has none, and its pages play recorded motions only.
"""

import base64
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fmumbs.compiler import ModelImage, compile
from fmumbs.compiler.pulls import with_pulls
from fmumbs.mechanism import Model

CORE = Path(__file__).parents[1] / "_fmu" / "wasm32-wasi" / "fmumbs.wasm"
WITHOUT = (
    "pages play the recorded motion only, as this installation has no core for browsers. Install a wheel of "
    "fmumbs with all platforms, or run `make platforms` in its source tree."
)


def live_of(
    image: ModelImage, given: Mapping[str, Any] | None = None, declared: Mapping[str, str] | None = None
) -> dict[str, Any] | None:
    """The part `live` of a page's data; None in an installation without the core for browsers.

    given: constant inputs, parameters and start values by name, with which the live mechanism starts; inputs over time
    are left out, as sliders take their place. declared: by the names of variables those that the model declares.
    """
    found = core()
    if found is None:
        return None
    starts = dict(pair for name, value in (given or {}).items() for pair in _components(image, name, value))
    pulled = _deflated(with_pulls(image).bytes)
    return {"core": found, "image": pulled, "starts": starts, "declared": dict(declared or {})}


def declared_names(model: Model | ModelImage) -> dict[str, str]:
    """The declared variables' names, by the names of the variables that they set or show."""
    if isinstance(model, Model) and not model.declared:
        return {}
    image = compile(model) if isinstance(model, Model) else model
    a, names = image.arrays, image.variables.structured
    places = zip(*(a[f"variable_{column}"].tolist() for column in ("kind", "object", "component")), strict=True)
    named = zip(places, a["variable_name"].tolist(), image.variables, strict=True)
    return {names.name(*place): variable.name for place, own, variable in named if own >= 0}


def _components(image: ModelImage, name: str, value: Any) -> Iterable[tuple[str, float]]:
    """Names and values of the components of a constant; none of what changes over time."""
    try:
        numbers = np.atleast_1d(np.asarray(value, float)).tolist()
    except (TypeError, ValueError):
        return ()
    names = image.variables.names(image.variables.references(name))
    return zip(names, numbers, strict=True) if len(names) == len(numbers) else ()


@cache
def core() -> dict[str, str] | None:
    """The core for browsers, None in an installation without it."""
    return _deflated(CORE.read_bytes()) if CORE.is_file() else None


def _deflated(data: bytes) -> dict[str, str]:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return {"deflated": base64.b64encode(packer.compress(data) + packer.flush()).decode()}
