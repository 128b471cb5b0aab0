"""Runs an example and writes the page of what it simulated: python watched.py EXAMPLE SCENE SCRIPT.

SCENE: the page to write; SCRIPT: where it finds what all pages share, relative to it. It shows the run with the most
bodies, the last of these; of an example that runs FMUs only, its mechanism at the start; of one without a mechanism
nothing is written.
"""

import runpy
import sys
from pathlib import Path
from typing import Any

from fmumbs.compiler import ModelImage
from fmumbs.run import Result
from fmumbs.run.rows import Rows
from fmumbs.view import View, view_model

results: list[Result] = []
images: list[ModelImage] = []


def watch(kind: type, name: str, seen: Any) -> None:
    """Calls seen(object, what it returned) after each call of a method."""
    method = getattr(kind, name)

    def watched(self: Any, *given: Any, **named: Any) -> Any:
        found = method(self, *given, **named)
        seen(self, found)
        return found

    setattr(kind, name, watched)


def view() -> View | None:
    """What the example is about, None if it has no mechanism."""
    moving = [one for one in results if one.motion is not None and len(one.time) > 1]
    if moving:
        return max(reversed(moving), key=lambda one: len(one.motion.image.scene.bodies)).view()  # type: ignore[union-attr]
    named = [one for one in images if one.scene.bodies]
    return view_model(max(reversed(named), key=lambda one: len(one.scene.bodies))) if named else None


if __name__ == "__main__":
    example, scene, script = sys.argv[1:]
    sys.argv = [example]
    sys.path[0] = str(Path(example).parent)
    watch(Rows, "result", lambda _, found: results.append(found))
    watch(ModelImage, "check", lambda image, _: images.append(image))
    runpy.run_path(example, run_name="__main__")
    made = view()
    if made is not None:
        Path(scene).write_text(made.html_beside(script), encoding="utf-8")
