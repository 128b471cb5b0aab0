"""Every engine on the same mechanisms in the same states: one table, and the rows."""

import argparse
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from common import Measure, Row, clock_gigahertz, interleaved, print_table, processor_name
from engines import Engine, Tool, Unavailable, find_tools
from trees import Floats, State, Tree

AGREEMENT = 1e-6  # relative; what MuJoCo keeps of 500 ball joints

Mechanism = Callable[[str, int], tuple[Tree, State]]


def arguments(description: str, quick: str) -> argparse.Namespace:
    """Parses --quick and --json; quick: help text of the former."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=description, formatter_class=layout)
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write rows {case, n, tool, us_per_eval}")
    return parser.parse_args()


def introduced_tools(loops: bool = False) -> list[Tool]:
    """Prints the processor, the tools and what is missing; those that work, fmumbs first."""
    print(f"{processor_name()}, measured clock {clock_gigahertz():.2f} GHz")
    tools, missing = find_tools(loops)
    print(", ".join(f"{tool.name} {tool.version}" for tool in tools))
    for name, reason in missing.items():
        print(f"{name} is missing: {reason}")
    print()
    return tools


def side_by_side(
    tools: list[Tool], plan: Mapping[str, tuple[int, ...]], mechanism: Mechanism, part: str
) -> tuple[list[Row], list[Measure]]:
    """Times all tools on all cases of the plan and prints a line for each; rows, and how well the tools agree.

    mechanism: of a case and its n; part: what n counts.
    """
    rows: list[Row] = []
    lines: list[list[str]] = []
    nearest: list[float] = []
    for case, n in ((case, n) for case, sizes in plan.items() for n in sizes):
        timed, differences = _one_case(tools, case, n, mechanism(case, n))
        rows += timed
        nearest += [min(differences.values())] if differences else []
        lines.append(_line(timed, [tool.name for tool in tools], differences))
    others = [tool.name for tool in tools[1:]]
    headings = ["case", "n", *(f"{tool.name} us" for tool in tools), f"ns/{part}"]
    headings += [f"{name} / fmumbs" for name in others] + [f"differs from {name}" for name in others]
    print("One evaluation of the accelerations")
    print_table(headings, lines)
    what = "accelerations beside the nearer engine's, all cases"
    return rows, [Measure(what, max(nearest), AGREEMENT, "")] if nearest else []


def _one_case(tools: list[Tool], case: str, n: int, given: tuple[Tree, State]) -> tuple[list[Row], dict[str, float]]:
    """The rows of one case, and how far the accelerations of each other tool are from fmumbs'."""
    engines: dict[str, dict[str, Engine]] = {}
    for tool in tools:
        try:
            engines[tool.name] = {variant: make(*given) for variant, make in tool.variants.items()}
        except Unavailable as reason:
            print(f"{case} {n}: {tool.name} {reason}")
    seconds = interleaved({v: e.evaluate for variants in engines.values() for v, e in variants.items()})
    rows = [Row(case, n, name, 1e6 * min(seconds[v] for v in variants)) for name, variants in engines.items()]
    ours = engines["fmumbs"]["fmumbs"].accelerations()
    return rows, {
        name: min(_relative(engine.accelerations(), ours) for engine in variants.values())
        for name, variants in engines.items()
        if name != "fmumbs"
    }


def _relative(a: Floats, b: Floats) -> float:
    difference = float(np.linalg.norm(a - b) / np.linalg.norm(b))
    return difference if math.isfinite(difference) else math.inf


def _line(rows: list[Row], names: list[str], differences: dict[str, float]) -> list[str]:
    us = {row.tool: row.us_per_eval for row in rows}
    times = [f"{us[name]:.2f}" if name in us else "-" for name in names]
    ratios = [f"{us[name] / us['fmumbs']:.1f}" if name in us else "-" for name in names[1:]]
    apart = [f"{differences[name]:.0e}" if name in differences else "-" for name in names[1:]]
    return [rows[0].case, str(rows[0].n), *times, f"{1e3 * us['fmumbs'] / rows[0].n:.1f}", *ratios, *apart]
