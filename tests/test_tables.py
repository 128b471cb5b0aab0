"""Tables of numbers: plain decimal numbers only, rows as long as the header, and the line in every message."""

import string
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fmumbs._tables import number, read_table, whole
from support.sweeps import seeds


@given(st.floats())
def test_every_double_is_read_bit_for_bit(value: float) -> None:
    for text in (repr(value), f" {value!r}\t", f"{value:.17g}", f"{value:.17E}"):
        assert np.float64(number(text)).tobytes() == np.float64(value).tobytes() or np.isnan(value)


@given(st.text(alphabet=string.digits + "+-.eE_ \t\xa0\u0663\uff11naif", max_size=8))
def test_nothing_else_is_a_number(text: str) -> None:
    """What float() takes beyond ASCII digits, sign, point and exponent is refused; nothing that it refuses is taken."""
    plain = text.strip(" \t")
    allowed = set(plain.lower()) <= set("0123456789+-.e") or plain.lower().lstrip("+-") in ("nan", "inf", "infinity")
    try:
        expected = float(plain) if allowed else None
    except ValueError:
        expected = None
    if expected is None or (np.isinf(expected) and "n" not in plain.lower()):
        with pytest.raises(ValueError, match=r"is not a number|beyond the largest"):
            number(text)
    else:
        assert number(text) == expected or np.isnan(expected)


@pytest.mark.parametrize("text", ["1_000", "\uff11", "\u0663", "1.0", "0x10", "", "+", "1 0", "²"])
def test_whole_numbers_have_digits_alone(text: str) -> None:
    with pytest.raises(ValueError, match="is not a whole number"):
        whole(text)


def test_whole_numbers() -> None:
    assert [whole(text) for text in ("12", " -3", "+0007\t")] == [12, -3, 7]


@pytest.mark.parametrize("seed", seeds(20, 500))
def test_a_damaged_row_is_refused_with_its_line(seed: int, tmp_path: Path) -> None:
    """A random table with empty lines, of which one row is made longer or shorter, or one cell no number."""
    rng = np.random.default_rng([seed, 7])
    columns, count = int(rng.integers(2, 6)), int(rng.integers(1, 9))
    lines = [[f"c{i}" for i in range(columns)]]
    at = []  # line of each row
    for _ in range(count):
        lines += [[]] * int(rng.integers(0, 3))
        lines.append([repr(float(v)) for v in rng.normal(size=columns) * 10.0 ** rng.integers(-9, 9)])
        at.append(len(lines))
    path = tmp_path / "table.csv"
    end = str(rng.choice(["\n", "\r\n"]))

    def write() -> None:
        path.write_bytes((end.join(map(",".join, lines)) + end).encode())

    write()
    table = read_table(path)
    assert table.lines.tolist() == at
    assert table.rows.tolist() == [[float(cell) for cell in lines[line - 1]] for line in at]
    row, kind = int(rng.integers(count)), seed % 4
    cells = lines[at[row] - 1]
    if kind == 0:
        cells.append("1.0")
    elif kind == 1:
        del cells[1:]
    else:
        cells[int(rng.integers(columns))] = str(rng.choice(["1_000", "\uff11", "1,5", "", "one", "1e999"]))
    write()
    with pytest.raises(ValueError, match=rf"^line {at[row]}: "):
        read_table(path)
