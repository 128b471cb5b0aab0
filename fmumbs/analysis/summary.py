"""The verdict on a mechanism's reactions as text: a summary, and a table of those that are not unique."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

MOST = 20  # rows of the table, names in a sentence


def summary(found: Any) -> str:
    """The text of a Uniqueness: counts, the joints whose reactions are not unique, and the fixes."""
    lines = [
        f"{found.rows} constraint rows, {found.rank} independent; "
        f"degree of redundancy {found.redundant}, mobility {found.mobility}"
    ]
    if found.singular:
        lines.append("at or near a singular position: the verdict may not hold elsewhere")
    lines += [f"the force of {one.kind} '{one.name}' is not unique" for one in found.forces if not one.unique]
    loose = [joint for joint in found.joints if not joint.unique]
    if not loose:
        return "\n".join([*lines, f"the reactions of all {len(found.joints)} joints are unique"])
    lines += _aligned([("joint", "f x y z", "t x y z", "indeterminate directions"), *map(_row, loose[:MOST])])
    lines += [f"... and {len(loose) - MOST} more joints"] * (len(loose) > MOST)
    unique = [joint.joint for joint in found.joints if joint.unique]
    lines += [f"unique: all reactions of {listed(unique)}"] * bool(unique)
    lines.append("to make all unique, in each joint's F axes:")
    changes = (f"free '{one.joint}' of {one.text}" if one.text else f"leave out '{one.joint}'" for one in found.fixes)
    lines += [f"  {change}" for change in islice(changes, MOST)]
    lines += [f"  ... and {len(found.fixes) - MOST} more"] * (len(found.fixes) > MOST)
    lines.append(f"or make flexible: {listed(found.flexible)}")
    return "\n".join(lines)


def _row(joint: Any) -> tuple[str, str, str, str]:
    marks = ["yes" if unique else "no " for unique in joint.components_unique]
    return joint.joint, " ".join(marks[:3]), " ".join(marks[3:]), str(joint.indeterminate_dimension)


def _aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    rest = [f"and {len(names) - MOST} more"] * (len(names) > MOST)
    return ", ".join([*names[:MOST], *rest]) or "none"
