"""Tables, progress bars and warnings on a terminal, or in a pipe without colours."""

import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from fmumbs.errors import CavitationWarning, ContactWarning, DeformationWarning, InputWarning, StartWarning

MOST = 40  # rows of a table, lines of a tree
MOST_IN_A_ROW = 12  # levels of a tree, names in a sentence

_NUMERIC = ("start", "end", "Solver's end", "least", "mean", "greatest", "in run")


def new_table(title: str | None, *columns: str) -> Any:
    """An empty table; columns of numbers are aligned to the right."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, justify="right" if column in _NUMERIC else "left", overflow="fold")
    return table


def new_list(title: str | None) -> Any:
    """An empty table of two columns without a header: what, and its value."""
    table = new_table(title, "", "")
    table.show_header = False
    return table


def show(renderable: Any) -> None:
    """Prints a table or a tree."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)  # a name may contain [b]
    if not console.is_terminal:
        console.width = 10_000  # do not wrap lines in a pipe
    console.print(renderable)


def show_rows(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Prints many rows, for which tables of rich take too long; on a terminal the last column is folded."""
    from rich.cells import cell_len
    from rich.console import Console

    console = Console()
    columns = list(zip(header, *rows, strict=True))
    widths = [max(len(cell) if cell.isascii() else cell_len(cell) for cell in column) for column in columns[:-1]]
    before = sum(widths) + 2 * len(widths) + 2
    last = max(console.width - before, 20) if console.is_terminal else None
    lines = []
    for row in (header, *rows):
        cells = [
            " " * (width - cell_len(cell)) + cell if name in _NUMERIC else cell + " " * (width - cell_len(cell))
            for name, cell, width in zip(header, row, widths, strict=False)
        ]
        folded = [row[-1]] if last is None else textwrap.wrap(row[-1], last) or [""]
        lines.append("  ".join(("", *cells, folded[0])).rstrip())
        lines += [" " * before + part for part in folded[1:]]
    width = console.width - 2 if console.is_terminal else before + max(map(len, columns[-1]))
    lines.insert(1, " " + "─" * width)
    click.echo("\n".join(("", *lines, "")))


def joined(names: list[str], most: int | None) -> str:
    """Names with commas; beyond MOST_IN_A_ROW only their number, unless `most` is None."""
    shown = names if most is None else names[:MOST_IN_A_ROW]
    rest = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return ", ".join(shown) + rest


def show_rest(count: int, how: str = "--all shows them") -> None:
    """Prints how many rows were left out."""
    if count > 0:
        click.echo(f"... and {count} more; {how}")


def counted(number: int, what: str) -> str:
    """A number and a noun, in the plural unless the number is 1."""
    return f"{number} {what}{'' if number == 1 else 's'}"


_PRINTED = (StartWarning, InputWarning, DeformationWarning, CavitationWarning, ContactWarning)


@contextmanager
def run_warnings() -> Iterator[None]:
    """Prints each warning of a run that the block raises; other warnings pass."""
    with warnings.catch_warnings(record=True) as seen:
        for category in _PRINTED:
            warnings.simplefilter("always", category)
        yield
    for one in seen:
        if issubclass(one.category, _PRINTED):
            click.secho("warning: ", fg="yellow", nl=False, err=True)
            click.echo(str(one.message), err=True)
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
