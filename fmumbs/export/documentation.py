"""documentation/index.html: what the FMU computes, how it is stepped, and its variables with their units.

A vector is one row. The page loads no external files, so that it looks the same on any machine.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from fmumbs.export.model_description import experiment_of
from fmumbs.finite_elements.mode_table import HEADINGS, ModeRow, cells

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage, Variable

_escaped = lru_cache(maxsize=1024)(escape)  # many cells are the same

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222 }
h1 { font-size: 1.6em } h2 { font-size: 1.2em; margin-top: 2em }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .25em .7em; border-bottom: 1px solid #ddd; vertical-align: top }
th { background: #f3f5f7 } code, td:first-child { font-family: ui-monospace, monospace }
"""

_CONVENTIONS = """
<p>SI units, angles in radians. World axes are those of the ground; frame F of a joint is on its parent,
frame M on its child. Quaternions are w x y z; their signs do not jump. Inertias are about the centre of mass
in the body's axes, in the order xx yy zz xy xz yz. A reaction is the constraint force and torque of the parent on
the child, about M's origin, in F's axes; a wrench also includes the applied forces of the joint.</p>
"""


_STEPS = """With <code>solver.scheme</code> 0 the step size follows from <code>solver.tolerance</code>; for the same
inputs, results depend on the communication step only within the tolerance. With scheme 1 the FMU divides each
communication step into equal steps of at most <code>solver.step</code>. Scheme 2 is implicit, for stiff mechanisms,
with error control as scheme 0; scheme 3 takes steps of 0 or of 2, whichever advance further for their cost, and
<code>solver.implicit</code> counts those of 2. A tolerance that the importer gives at the start is the
default of <code>solver.tolerance</code>."""
_PARAMETERS = """Tunable parameters may be changed between two steps. They are part of the FMU state."""
_STARTS = """Outputs with an exact start (positions and velocities of joints) accept start values before
initialisation. With <code>solver.equilibrium</code> 1 the motion starts at rest in the static equilibrium near
them, which is found with the parameters and inputs that are set; where there is none, initialisation fails with
a message that names the coordinate that forces go on moving, or that no force returns."""


_MODES = """Eigenmodes with the body's frame fixed. Effective mass: what a mode takes part in of a translation of the
frame; share: of the body's mass, by this mode and those before it. Participation: of translations, and of rotations
about the centre of mass, for a mode whose largest coordinate is 1 m."""


@dataclass(frozen=True)
class Notes:
    """Texts about a backend, in HTML.

    needs: its requirements; inputs, failure: inputs during a step, the state after a failed step; sections: heading
    and text of each; integrates: it has states.
    """

    needs: str
    inputs: str
    failure: str
    sections: tuple[tuple[str, str], ...] = ()
    integrates: bool = True

    def stepping(self) -> str:
        of_steps = (_STEPS, self.inputs, _PARAMETERS, _STARTS, self.failure)
        items = of_steps if self.integrates else (self.inputs, _PARAMETERS)
        return "<ul>\n" + "\n".join(f"<li>{item}</li>" for item in items) + "\n</ul>"


NATIVE = Notes(
    needs="It needs neither Python nor any other tool.",
    inputs="""Inputs are constant during a communication step, or follow the derivatives of orders 1 to 3 that the
importer sets for that step.""",
    failure="A step that fails returns the status Discard; the instance is then at the last successful time.",
)


NATIVE3 = replace(
    NATIVE,
    inputs="""Inputs are constant during a communication step, unless the importer sets them in its intermediate update:
they hold from then on. That is called at the end of each integration step within the communication step, where values
may be read, too, and the step be ended early; with event mode a step also ends where a force law or a path goes over to
its next piece.""",
)


INVERSE = Notes(
    needs=NATIVE.needs,
    inputs="""The motion is an input: positions, velocities and accelerations. Outputs are the forces that it takes at
the present inputs, and the reactions in it; a step changes the time alone. Quaternions may have any length but 0.""",
    failure="",
    integrates=False,
)


@dataclass(frozen=True)
class _Row:
    name: str
    start: str
    unit: str
    description: str
    variability: str


def documentation(
    image: "ModelImage",
    variables: "Sequence[Variable] | None" = None,
    *,
    tool: str = "fmumbs",
    notes: Notes = NATIVE,
    scene: bool = False,
    picture: str = "model.png",
    fmi: int = 2,
) -> bytes:
    """The page's bytes, which depend on the arguments only.

    variables: image.variables as a list, if the caller has one; tool: name and version of the exporter; notes: texts
    about the backend; scene: links to scene.html; picture: its name in the archive; fmi: version.
    """
    experiment = experiment_of(image)
    parts = [
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">",
        f"<title>{escape(image.name)}</title>\n<style>{_STYLE}</style></head>\n<body>",
        f"<h1><img src=\"../{picture}\" alt=\"\" width=\"48\" height=\"48\"> {escape(image.name)}</h1>",
        f"<p>{escape(image.description)}</p>" if image.description else "",
        f"<p>A multibody mechanism as an FMU of FMI {fmi}.0, generated by {escape(tool)}.",
        '<a href="scene.html">It in motion</a>.' if scene else "",
        notes.needs, "Image <code>", image.hash, "</code>.</p>",
        "<h2>Default experiment</h2>",
        f"<p>From 0 to {experiment.stop} s, communication step {experiment.step} s, relative",
        f"tolerance {experiment.tolerance}.</p>",
        "<h2>Stepping</h2>", notes.stepping(),
        *(f"<h2>{heading}</h2>\n{text}" for heading, text in notes.sections),
        "<h2>Conventions</h2>", _CONVENTIONS,
    ]  # fmt: skip
    table = image.variables[:] if variables is None else variables
    headings = {"input": "Inputs", "output": "Outputs", "parameter": "Parameters", "local": "Constants"}
    for causality, heading in headings.items():
        members = [v for v in table if v.causality == causality]
        parts.append(_table(heading, members, causality))
    parts += [_of_modes(body, rows) for body, rows in image.modes.items() if rows]
    parts.append("</body>\n</html>\n")
    return "\n".join(part for part in parts if part).encode()


def _table(heading: str, members: Sequence["Variable"], causality: str) -> str:
    if not members:
        return ""
    titles = ["variable", "unit", "start", "meaning"] + (["may change"] if causality == "parameter" else [])
    lines = [f"<h2>{heading} ({len(members)})</h2>", "<table>"]
    lines.append("<tr>" + "".join(f"<th>{title}</th>" for title in titles) + "</tr>")
    for row in _rows(members):
        cells = [row.name, row.unit, row.start, row.description]
        if causality == "parameter":
            cells.append("while running" if row.variability == "tunable" else "before initialisation")
        lines.append("<tr>" + "".join([f"<td>{_escaped(cell)}</td>" for cell in cells]) + "</tr>")
    lines.append("</table>")
    return "\n".join(lines)


def _of_modes(body: str, table: tuple[ModeRow, ...]) -> str:
    """The modes of a flexible body."""
    lines = [f"<h2>Modes of {escape(body)} ({len(table)})</h2>", f"<p>{_MODES}</p>", "<table>"]
    lines.append("<tr>" + "".join(f"<th>{title}</th>" for title in HEADINGS) + "</tr>")
    lines += ["<tr>" + "".join(f"<td>{_escaped(cell)}</td>" for cell in row) + "</tr>" for row in cells(table)]
    return "\n".join([*lines, "</table>"])


def _rows(members: Iterable["Variable"]) -> list[_Row]:
    """One row for each scalar or vector, in the order of the table."""
    vectors: list[_Vector] = []
    for variable in members:
        stem, index = _split(variable.name)
        if not (vectors and index and vectors[-1].goes_on(stem, index, variable)):
            vectors.append(_Vector(stem, index, []))
        vectors[-1].members.append(variable)
    return [vector.row() for vector in vectors]


@dataclass(frozen=True)
class _Vector:
    """Variables whose names have one stem and components that follow one another; first: 0 for a scalar."""

    stem: str
    first: int
    members: list["Variable"]

    def goes_on(self, stem: str, index: int, variable: "Variable") -> bool:
        before = self.members[-1]
        alike = variable.unit == before.unit and variable.description == before.description
        return bool(self.first and index == self.first + len(self.members) and stem == self.stem and alike)

    def row(self) -> _Row:
        one, count = self.members[0], len(self.members)
        name = one.name if count == 1 else f"{self.stem}[{self.first}..{self.first + count - 1}]"
        known = all(v.start is not None and v.initial != "calculated" for v in self.members)
        start = " ".join(f"{v.start:g}" for v in self.members if v.start is not None) if known else ""
        return _Row(name, start, one.unit, one.description, one.variability)


def _split(name: str) -> tuple[str, int]:
    """Stem and 1-based component of a vector's name; component 0 for a scalar."""
    if not name.endswith("]"):
        return name, 0
    stem, _, index = name[:-1].rpartition("[")
    return (stem, int(index)) if index.isdecimal() else (name, 0)
