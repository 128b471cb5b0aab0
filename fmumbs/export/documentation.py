"""documentation/index.html: what the FMU computes, how it is stepped, and its variables with their units.

A vector is one row. Nothing is loaded from elsewhere, so that the page reads the same on any machine.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from fmumbs.export.model_description import experiment_attributes

if TYPE_CHECKING:
    from fmumbs.compiler import ModelImage, Variable

_COMPONENT = re.compile(r"\[(\d+)\]$")

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222 }
h1 { font-size: 1.6em } h2 { font-size: 1.2em; margin-top: 2em }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .25em .7em; border-bottom: 1px solid #ddd; vertical-align: top }
th { background: #f3f5f7 } code, td:first-child { font-family: ui-monospace, monospace }
"""

_CONVENTIONS = """
<p>SI units, angles in radians. World axes are those of the ground; frame F of a joint sits on its parent,
frame M on its child. Quaternions are w x y z and never flip their sign. Inertias are about the centre of mass
in the body's axes, in the order xx yy zz xy xz yz. A reaction is what the parent puts on the child through
the constraints of the joint, reduced at M, in F's axes; a wrench is all that crosses the joint, applied
forces too.</p>
"""


_STEPS = """With <code>solver.scheme</code> 0 the FMU takes the steps that <code>solver.tolerance</code> asks for, so
that results at the same inputs do not depend on the communication step beyond the tolerance. With scheme 1 it divides
each communication step into equal steps of at most <code>solver.step</code>. A tolerance given to fmi2SetupExperiment
is the value of <code>solver.tolerance</code> until that is set itself."""
_PARAMETERS = """Tunable parameters may be changed between two steps. They belong to the instance and to its saved
state."""
_STARTS = """Outputs that start exactly (positions and velocities of joints) take start values before
initialisation."""


@dataclass(frozen=True)
class Notes:
    """What the page says of a back end, in HTML.

    needs: a sentence on what it runs in; inputs, failure: what they do in a step, what a failed step leaves;
    sections: heading and text of each.
    """

    needs: str
    inputs: str
    failure: str
    sections: tuple[tuple[str, str], ...] = ()

    def stepping(self) -> str:
        items = (_STEPS, self.inputs, _PARAMETERS, _STARTS, self.failure)
        return "<ul>\n" + "\n".join(f"<li>{item}</li>" for item in items) + "\n</ul>"


NATIVE = Notes(
    needs="It needs neither Python nor any other tool.",
    inputs="""Inputs are held over a communication step, or follow the derivatives of orders 1 to 3 that the master
sets for that step.""",
    failure="A step that fails answers fmi2Discard; the instance then stands at the last successful time.",
)


@dataclass(frozen=True)
class _Row:
    name: str
    start: str
    unit: str
    description: str
    variability: str


def documentation(
    image: "ModelImage", variables: "Sequence[Variable] | None" = None, *, tool: str = "fmumbs", notes: Notes = NATIVE
) -> bytes:
    """The page's bytes, the same for the same image.

    variables: image.variables, for who has them at hand as a list; tool: name and version of the exporter;
    notes: on the back end.
    """
    experiment = experiment_attributes(image)
    parts = [
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">",
        f"<title>{escape(image.name)}</title>\n<style>{_STYLE}</style></head>\n<body>",
        f"<h1><img src=\"../model.png\" alt=\"\" width=\"48\" height=\"48\"> {escape(image.name)}</h1>",
        f"<p>{escape(image.description)}</p>" if image.description else "",
        f"<p>A multibody mechanism as an FMI 2.0 co-simulation FMU, made by {escape(tool)}.",
        notes.needs, "Image <code>", image.hash, "</code>.</p>",
        "<h2>Default experiment</h2>",
        f"<p>From 0 to {experiment['stopTime']} s, communication step {experiment['stepSize']} s, relative",
        f"tolerance {experiment['tolerance']}.</p>",
        "<h2>Stepping it</h2>", notes.stepping(),
        *(f"<h2>{heading}</h2>\n{text}" for heading, text in notes.sections),
        "<h2>Conventions</h2>", _CONVENTIONS,
    ]  # fmt: skip
    table = image.variables[:] if variables is None else variables
    headings = {"input": "Inputs", "output": "Outputs", "parameter": "Parameters", "local": "Constants"}
    for causality, heading in headings.items():
        members = [v for v in table if v.causality == causality]
        parts.append(_table(heading, members, causality))
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
        lines.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    lines.append("</table>")
    return "\n".join(lines)


def _rows(members: Iterable["Variable"]) -> list[_Row]:
    """One row a scalar or a vector, in their order."""
    rows: list[_Row] = []
    vector: list[Variable] = []
    for variable in members:
        if vector and not _continues(vector[-1], variable):
            rows.append(_row(vector))
            vector = []
        vector.append(variable)
    if vector:
        rows.append(_row(vector))
    return rows


def _continues(before: "Variable", variable: "Variable") -> bool:
    stem, index = _split(variable)
    last_stem, last = _split(before)
    alike = variable.unit == before.unit and variable.description == before.description
    return bool(index and last and index == last + 1 and stem == last_stem and alike)


def _row(vector: Sequence["Variable"]) -> _Row:
    first = vector[0]
    name = first.name if len(vector) == 1 else f"{_split(first)[0]}[{_split(first)[1]}..{_split(vector[-1])[1]}]"
    known = all(v.start is not None and v.initial != "calculated" for v in vector)
    start = " ".join(f"{v.start:g}" for v in vector if v.start is not None) if known else ""
    return _Row(name, start, first.unit, first.description, first.variability)


def _split(variable: "Variable") -> tuple[str, int]:
    """Stem and 1-based component of a vector's name; component 0 for a scalar."""
    match = _COMPONENT.search(variable.name)
    return (variable.name[: match.start()], int(match[1])) if match else (variable.name, 0)
