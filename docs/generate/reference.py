"""The API reference: what help() shows of each public class and function."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import fmumbs as fm
from fmumbs.mechanism.element import Element

GROUPS = {  # heading: the modules that define what is below it
    "Models, bodies and points": ("mechanism.model", "mechanism.bodies", "spatial"),
    "Joints": ("mechanism.joints", "mechanism.friction"),
    "Couplings, forces and laws": ("mechanism.coupling", "mechanism.cam", "mechanism.forces", "mechanism.laws"),
    "Paths and programs": ("mechanism.path", "mechanism.program", "mechanism.programs"),
    "Flexible links": ("mechanism", "finite_elements"),
    "Compiling and running": ("compiler", "run"),
    "Analysis": ("analysis",),
    "Files of other tools": ("readers",),
    "FMUs and systems of FMUs": ("export", "system", "play"),
    "Sweeps": ("study",),
    "Seeing": ("view",),
    "Errors and warnings": ("errors",),
}


def pages() -> dict[str, str | bytes]:
    """The one page of the reference."""
    text = ["# API", "The same as `help()`. Everything is in the package itself: `import fmumbs as fm`."]
    groups: dict[str, list[str]] = {heading: [] for heading in GROUPS}
    for name in sorted(fm.__all__, key=str.lower):
        groups[_group(getattr(fm, name))].append(name)
    for heading, names in groups.items():
        if names:
            text += [f"## {heading}", *(part for name in names for part in _described(name))]
    return {"reference.md": "\n\n".join(text) + "\n"}


def _group(value: Any) -> str:
    """The heading whose module is the longest part of the module's name. Raises ValueError if there is none."""
    module = value.__module__.removeprefix("fmumbs.") + "."
    parts = [(part, heading) for heading, parts in GROUPS.items() for part in parts]
    fitting = [(len(part), heading) for part, heading in parts if module.startswith(f"{part}.")]
    if not fitting:
        raise ValueError(f"docs/generate/reference.py: no heading for {value.__module__}")
    return max(fitting)[1]


def _described(name: str) -> Iterator[str]:
    """Markdown of one class or function, and of the methods and properties of a class."""
    value = getattr(fm, name)
    yield f"### `{name}` {{ #{name} }}"
    if not (inspect.isclass(value) and issubclass(value, BaseException)):
        yield f"```python\nfm.{name}{_signature(value)}\n```"
    yield markdown(inspect.getdoc(value) or "")
    if inspect.isclass(value):
        for member, one in _members(value):
            call = "" if isinstance(one, property) else _signature(getattr(value, member))
            yield f"#### `{name}.{member}` {{ #{name}.{member} }}"
            if call:
                yield f"```python\n{name}.{member}{call}\n```"
            yield markdown(inspect.getdoc(one if isinstance(one, property) else getattr(value, member)) or "")


def _members(kind: type) -> list[tuple[str, Any]]:
    """Public methods and properties of a class; of an element only its own, since what elements share is internal."""
    bases = [base for base in kind.__mro__ if base.__module__.startswith("fmumbs")]
    bases = bases[:1] if issubclass(kind, Element) else bases
    found = {name: one for base in reversed(bases) for name, one in vars(base).items() if not name.startswith("_")}
    shown = {
        name: one for name, one in found.items()
        if isinstance(one, property | staticmethod | classmethod) or inspect.isfunction(one)
    }  # fmt: skip
    return sorted((name, one) for name, one in shown.items() if inspect.getdoc(getattr(kind, name)))


def _signature(value: Any) -> str:
    """Arguments with their defaults, without types."""
    signature = inspect.signature(value)
    plain = [p.replace(annotation=p.empty) for name, p in signature.parameters.items() if name not in ("self", "cls")]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


def markdown(doc: str) -> str:
    """A docstring as Markdown: arguments as a list, examples and indented lines as code."""
    return "\n\n".join(_paragraph(block) for block in re.split(r"\n\s*\n", doc) if block.strip())


ARGUMENT = re.compile(r"^(\w+(?:, \w+)*)((?: \[[^\]]*\])?: )")


def _paragraph(block: str) -> str:
    lines = block.splitlines()
    if lines[0].startswith(">>> "):
        code = "\n".join(re.sub(r"^(>>> |\.\.\. )", "", line) for line in lines)
        return f"```python\n{code}\n```"
    if lines[0].startswith("    "):
        return "```text\n" + inspect.cleandoc(block) + "\n```"
    if not any(ARGUMENT.match(line) for line in lines):
        return _escaped(" ".join(line.strip() for line in lines))
    items: list[str] = []
    for line in lines:
        found = ARGUMENT.match(line)
        if found or not items:
            items.append(_escaped(line[found.end() :] if found else line))
            items[-1] = f"- **{found[1]}**{_escaped(found[2])}{items[-1]}" if found else items[-1] + "\n"
        else:
            items[-1] += " " + _escaped(line.strip())
    return "\n".join(items)


def _escaped(text: str) -> str:
    """Characters that Markdown would read as markup, outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_<\[\]|])", r"\\\1", part) for part in parts)
