"""Draws faults at random from the syntax of the code, and writes them as a list.

    python tests/faults/draw.py COUNT --seed SEED [--among PATH ... | --only PATH[:LINE]] > tests/faults/NAME.toml

Each room of the package and of the core has its turn; within it every small change of every file is as likely as any
other: an operator, an index, a sign, a constant, a condition that always or never holds, a statement left out. Python
is read by `ast`, C by its tokens. What does not parse any more is left out; what C compilers refuse shows when it is
run. A list is the same for the same seed and code.
"""

import argparse
import ast
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults.lists import ROOT, all_faults

OTHER = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "/", "/": "*",
    "and": "or", "or": "and", "&&": "||", "||": "&&", "in": "not in", "not in": "in", "is": "is not", "is not": "is",
    "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "//": "/", "%": "*", "**": "*", "@": "*", "|": "&", "&": "|",
    "++": "--", "--": "++", "<<": ">>", ">>": "<<", "|=": "&=", "&=": "|=",
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "fmin": "fmax", "fmax": "fmin", "sin": "cos", "cos": "sin", "any": "all", "all": "any",
    "True": "False", "False": "True", "argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor",
    "continue": "break", "break": "continue",
}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """Of text[first:last] into `new`."""

    kind: str
    first: int
    last: int
    new: str


def number(text: str) -> str | None:
    """Another number: the next whole one, one and a tenth of another."""
    if re.fullmatch(r"\d+", text):
        return str(int(text) + 1)
    if re.fullmatch(r"\d*\.?\d+(?:[eE][-+]?\d+)?|\d+\.(?:[eE][-+]?\d+)?", text):
        return "1.0" if float(text) == 0.0 else f"({text} * 1.1)"
    return None


# Python --------------------------------------------------------------------------------------------------------


class InPython:
    """All changes of a module."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = [0]
        for one in text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(one))
        self.tree = ast.parse(text)

    def at(self, line: int, column: int) -> int:
        start = self.lines[line - 1]
        return start + len(self.text[start : self.lines[line]].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno or 0, node.end_col_offset or 0)

    def nodes(self, node: ast.AST) -> Iterator[ast.AST]:
        """All but types."""
        yield node
        for field, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and field not in ("annotation", "returns", "decorator_list"):
                    yield from self.nodes(child)

    def changes(self) -> Iterator[Change]:
        for node in self.nodes(self.tree):
            if isinstance(node, ast.BinOp):
                yield from self.between("operator", node.left, node.right)
            elif isinstance(node, ast.Compare):
                for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
                    yield from self.between("operator", left, right)
            elif isinstance(node, ast.BoolOp):
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield from self.between("operator", left, right)
            elif isinstance(node, ast.expr):
                yield from self.of_expression(node)
            elif isinstance(node, ast.stmt):
                yield from self.of_statement(node)

    def between(self, kind: str, left: ast.expr, right: ast.expr) -> Iterator[Change]:
        first, last = self.span(left)[1], self.span(right)[0]
        found = re.search(r"[^\s()#]+(?: not| in)?(?=[\s(]|$)", self.text[first:last])
        if found and found[0] in OTHER:
            yield Change(kind, first + found.start(), first + found.end(), OTHER[found[0]])

    def of_expression(self, node: ast.expr) -> Iterator[Change]:
        first, last = self.span(node)
        text = self.text[first:last]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
            yield Change("sign", first, self.span(node.operand)[0], "")
        elif isinstance(node, ast.Constant) and not isinstance(node.value, str | bytes):
            if (other := NAMES.get(text) or number(text)) is not None:
                yield Change("constant", first, last, other)
        elif isinstance(node, ast.Name) and text in NAMES:
            yield Change("name", first, last, NAMES[text])
        elif isinstance(node, ast.Attribute) and node.attr in NAMES:
            yield Change("name", last - len(node.attr), last, NAMES[node.attr])
        elif isinstance(node, ast.Slice):
            for part in (node.lower, node.upper):
                if part is not None:
                    yield Change("index", *self.span(part), "")
        elif isinstance(node, ast.IfExp):
            yield Change("condition", *self.span(node.test), "True")
            yield Change("condition", *self.span(node.test), "False")

    def of_statement(self, node: ast.stmt) -> Iterator[Change]:
        first, last = self.span(node)
        if isinstance(node, ast.If | ast.While):
            yield Change("condition", *self.span(node.test), "False")
            if isinstance(node, ast.If):
                yield Change("condition", *self.span(node.test), "True")
        elif isinstance(node, ast.AugAssign):
            yield from self.between("operator", node.target, node.value)
            yield Change("left out", first, last, "pass")
        elif isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
            yield Change("left out", first, last, "pass")


# C -------------------------------------------------------------------------------------------------------------

TOKEN = re.compile(
    r"(?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*#(?:\\\n|[^\n])*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[ \t\n\\]+)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[uUlLfF]*)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<mark>->|\+\+|--|<<=|>>=|<<|>>|[-+*/%<>=!&|^]=|&&|\|\||.)",
    re.DOTALL | re.MULTILINE,
)
STATEMENT = re.compile(
    r"(?<=[;{}:])[ \t]*\n[ \t\n]*(?![ \t]|(?:return|const|goto|case|default|else|typedef|for|struct|union)\b)"
    r"[^\n{}#]*?;"
)
CONDITION = re.compile(r"\b(?:if|while) (\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\))")
DECLARED = re.compile(r"(?:static |unsigned )?(?:\w+_t|void|int|double|size_t|char|float|fm_\w+|\w+_row) [*\w]")
UNARY = {"(", ",", "=", "[", "?", ":", "return", "&&", "||", "<", ">", "+=", "-=", "*=", "==", "{", ";"}


def in_c(text: str) -> Iterator[Change]:
    before, code = "", list(text)
    for found in TOKEN.finditer(text):
        if found["skip"] is not None:
            code[found.start() : found.end()] = re.sub(r"\S", " ", found[0])
            continue
        one, (first, last) = found[0], found.span()
        operand = bool(re.match(r"[\w)\]]", before[-1:])) and before not in ("return", "sizeof", "const", "double")
        spaced = text[first - 1] == " " and text[last : last + 1] in (" ", "\n")  # of two operands
        if found["number"] and (other := number(one)):
            yield Change("index" if before == "[" else "constant", first, last, other)
        elif found["name"] and one in NAMES:
            yield Change("name", first, last, NAMES[one])
        elif found["mark"] and one in OTHER and operand and (spaced or one in ("++", "--")):
            yield Change("operator", first, last, OTHER[one])
        elif one in ("-", "!") and before in UNARY:
            yield Change("sign", first, last, "")
        before = one
    for found in STATEMENT.finditer("".join(code)):
        if not DECLARED.match(found[0].lstrip()):
            yield Change("left out", found.end() - len(found[0].lstrip()), found.end(), ";")
    for found in CONDITION.finditer("".join(code)):
        yield Change("condition", *found.span(1), "(0)")
        yield Change("condition", *found.span(1), "(1)")


# Both ----------------------------------------------------------------------------------------------------------


def changes(path: Path) -> list[Change]:
    text = path.read_text()
    found = InPython(text).changes() if path.suffix == ".py" else in_c(text)
    return sorted(set(found), key=lambda one: (one.first, one.last, one.new))


def as_entry(path: Path, change: Change) -> dict[str, str] | None:
    """As a list has it: the least text about the change that stands once in the file; None if it does not parse."""
    text = path.read_text()
    if path.suffix == ".py":
        try:
            ast.parse(text[: change.first] + change.new + text[change.last :])
        except SyntaxError:
            return None
    first, last = change.first, change.last
    while text.count(text[first:last]) != 1 or last - first < 12:
        first, last = max(first - 1, 0), min(last + 1, len(text))
    old = text[first:last]
    new = text[first : change.first] + change.new + text[change.last : last]
    line = text.count("\n", 0, change.first) + 1
    shown = " ".join(text.splitlines()[line - 1].split())[:100]
    what = " ".join(text[change.first : change.last].split())[:60]
    breaks = f"{change.kind}: `{what}` becomes `{change.new}` in `{shown}`"
    return {"breaks": breaks, "file": path.relative_to(ROOT).as_posix(), "old": old, "new": new}


def rooms() -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted((ROOT / "fmumbs").rglob("*")):
        parts = path.relative_to(ROOT / "fmumbs").parts
        if (
            path.suffix in {".py", ".c", ".h", ".inc"}
            and parts[0] not in ("_models", "_fmu")
            and path.name != "fmumbs.h"
        ):
            found["/".join(parts[:2]) if parts[0] == "core" else parts[0] if parts[1:] else ""].append(path)
    return found


def drawn(count: int, seed: int, among: dict[str, list[Path]]) -> Iterator[dict[str, str]]:
    """From each room in turn."""
    draw = random.Random(seed)
    known = {(fault.file, fault.old, fault.new) for fault in all_faults()}
    every = {room: [(p, one) for p in paths for one in changes(p)] for room, paths in among.items()}
    queue = [room for room in every if every[room]]
    draw.shuffle(queue)
    made = 0
    while made < count:
        room = queue[made % len(queue)]
        entry = as_entry(*draw.choice(every[room]))
        if entry and (key := (entry["file"], entry["old"], entry["new"])) not in known:
            known.add(key)
            made += 1
            yield entry


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--among", nargs="+", help="each of these files has its turn, instead of each room")
    parser.add_argument("--only", help="all changes of a file, or of a line of it, instead")
    chosen = parser.parse_args()
    if chosen.only:
        name, _, line = chosen.only.partition(":")
        path = (ROOT / name).resolve()
        own = [c for c in changes(path) if not line or path.read_text().count("\n", 0, c.first) + 1 == int(line)]
        entries = [entry for one in own if (entry := as_entry(path, one))][: chosen.count]
    else:
        among = {name: [(ROOT / name).resolve()] for name in chosen.among or []}
        entries = list(drawn(chosen.count, chosen.seed, among or rooms()))
    print(f"# {len(entries)} faults that draw.py drew with the seed {chosen.seed}.")
    for entry in entries:
        print("\n[[fault]]")
        for key, value in entry.items():
            print(f"{key} = {json.dumps(value, ensure_ascii=False)}")


if __name__ == "__main__":
    main()
