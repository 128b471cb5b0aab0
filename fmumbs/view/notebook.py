"""What a notebook shows of a Model or a Result that is the value of a cell: a table, and a picture or the page.

Everything is HTML with its style in it; names are escaped. A model that is not complete yet is shown without a picture,
with the reason.
"""

import base64
from collections.abc import Iterable, Sequence
from html import escape

from fmumbs.analysis.structure import Structure, structure
from fmumbs.compiler import ModelImage, compile
from fmumbs.errors import FmumbsError
from fmumbs.mechanism import Model
from fmumbs.run import Result
from fmumbs.run.solver import Solver
from fmumbs.view.png import png
from fmumbs.view.still import still
from fmumbs.view.viewing import view_result

_MOST_ROWS = 200  # of a table; the rest is counted
_MOST_BODIES = 500  # of a picture, which then takes about a second
_MOST_HTML = 4_000_000  # characters of a page within a notebook
_SIZE = 240  # pixels of a picture

_TABLE = "max-height:{0}px;overflow:auto;display:inline-block;vertical-align:top;margin-right:1em"
_MONO = "text-align:{0};font-variant-numeric:tabular-nums;padding:1px 8px"


def model_html(model: Model) -> str:
    """Bodies with the joints that carry them, mobility, and the picture at the start; never raises."""
    found = structure(model)
    picture, mobility, failure = "", "", ""
    try:
        image = compile(model)
        mobility = _mobility(image)
        if found.bodies <= _MOST_BODIES:
            picture = _picture(image)
    except FmumbsError as error:
        failure = f"<p>Not complete: {escape(str(error))}</p>"
    head = f"<p><b>{escape(model.name)}</b>{escape(_counts(found))}{mobility}</p>"
    warned = "".join(f"<p>{escape(text)}</p>" for text in found.warnings)
    return f"<div>{head}{_table(_JOINT_COLUMNS, _joint_rows(model, found))}{picture}{failure}{warned}</div>"


def result_html(result: Result) -> str:
    """Variables with their units and extremes, and the page; the picture where the page is too large for a notebook."""
    times = f"{len(result.time)} times to {result.time[-1]:g} s" if len(result.time) else "no times"
    head = f"<p><b>{escape(result.name)}</b>: {times}, {len(result)} variables</p>"
    return f"<div>{head}{_table(_RESULT_COLUMNS, _result_rows(result))}{_motion(result)}</div>"


_JOINT_COLUMNS = ("joint", "", "from", "to", "free", "mass [kg]")
_RESULT_COLUMNS = ("variable", "unit", "start", "end", "min", "max")


def _counts(found: Structure) -> str:
    """Such as ": 4 bodies, 4 joints, 1 loop"."""
    counts = ((found.bodies, "body", "bodies"), (found.joints, "joint", "joints"), (found.loops, "loop", "loops"))
    return ": " + (", ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts if n) or "empty")


def _mobility(image: ModelImage) -> str:
    """The mobility where the mechanism starts, or why it cannot start."""
    try:
        solver = Solver(image.with_options(equilibrium=False) if image.equilibrium else image)
        solver.assemble()
    except FmumbsError as error:
        return f"</p><p>It does not start: {escape(str(error))}"
    return f", mobility {solver.mobility}"


def _joint_rows(model: Model, found: Structure) -> Iterable[Sequence[str]]:
    """A row for each joint, those of the tree in depth-first order with the body that they carry, then the others."""
    masses = {body.name: f"{body.mass:.6g}" for body in model.bodies}
    shown = {branch.joint for branch in found.branches} | model.inner | {program.name for program in model.programs}
    for branch in found.branches:
        mass = masses.get(branch.body, "")
        yield branch.joint, branch.kind.strip("_"), branch.parent, branch.body, str(branch.dof), mass
    for joint in model.joints:
        if joint.name not in shown:
            ends = joint.F.body.name, joint.M.body.name
            yield joint.name, type(joint).__name__.lower(), *ends, str(joint.velocities), ""
    for name in found.unreached:
        yield "", "no joint", "", name, "", masses.get(name, "")


def _result_rows(result: Result) -> Iterable[Sequence[str]]:
    for name in result:
        values = result[name]
        numbers = (values[0], values[-1], values.min(), values.max()) if len(values) else ()
        yield name, result.units.get(name, ""), *(f"{number:.6g}" for number in numbers)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """At most _MOST_ROWS rows; text to the left, numbers to the right."""
    body = list(rows)
    texts = sum(column in ("joint", "", "from", "to", "variable", "unit") for column in columns)

    def row(cells: Sequence[str], tag: str) -> str:
        each = (
            f'<{tag} style="{_MONO.format("left" if i < texts else "right")}">{escape(cell)}</{tag}>'
            for i, cell in enumerate(cells)
        )
        return f"<tr>{''.join(each)}</tr>"

    more = f"<p>and {len(body) - _MOST_ROWS} more</p>" if len(body) > _MOST_ROWS else ""
    inner = row(columns, "th") + "".join(row(cells, "td") for cells in body[:_MOST_ROWS])
    return f'<div style="{_TABLE.format(_SIZE)}"><table>{inner}</table>{more}</div>'


def _picture(image: ModelImage) -> str:
    data = base64.b64encode(png(still(image, _SIZE, thin=0.01, samples=2))).decode()
    return f'<img alt="{escape(image.name)} at its start" width="{_SIZE}" src="data:image/png;base64,{data}">'


def _motion(result: Result) -> str:
    """The page, or the picture and how to see the page; nothing of a result without positions."""
    if result.motion is None or not len(result.time):
        return ""
    page = view_result(result)
    if len(page.html) <= _MOST_HTML:
        return page._repr_html_()
    size = f"{len(page.html) / 1e6:.0f} MB"
    drawn = _picture(result.motion.image) if result.motion.image.sizes["links"] <= _MOST_BODIES else ""
    return f"{drawn}<p>The page has {size}: result.view().open() shows it, or a longer interval.</p>"
