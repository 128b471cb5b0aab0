"""Files of results: what other programs read in them."""

import struct
from pathlib import Path

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.run import Result

TIME = np.array([0.0, 0.1, 0.25, 1e-7 + 1 / 3])
SERIES = {"A.q": np.sin(TIME), "b.r[1]": 1 / (1 + TIME), "b.r[2]": -TIME, "a_very_long_name.of.tau": TIME * 1e300}


@pytest.fixture
def result() -> Result:
    return Result("arm", TIME, SERIES, {"A.q": "rad", "b.r[1]": "m", "b.r[2]": "m", "a_very_long_name.of.tau": ""})


def test_csv_has_the_bytes_that_fmpy_writes(result: Result, tmp_path: Path) -> None:
    from fmpy.util import read_csv, write_csv

    table = np.rec.fromarrays([TIME, *SERIES.values()], names=["time", *SERIES])
    write_csv(tmp_path / "fmpy.csv", np.asarray(table))
    path = result.save(tmp_path / "ours.csv")
    assert path.read_bytes() == (tmp_path / "fmpy.csv").read_bytes()
    for name, values in {"time": TIME, **SERIES}.items():
        assert read_csv(path)[name].tolist() == values.tolist()


def test_a_trajectory_file_is_read_by_dymat(result: Result, tmp_path: Path) -> None:
    import DyMat

    read = DyMat.DyMatFile(str(result.save(tmp_path / "arm.mat")))
    assert set(read.names()) == set(SERIES)
    for name, values in SERIES.items():
        assert read.data(name).tolist() == values.tolist()
        times, time, text = read.abscissa(name)
        assert (times.tolist(), time, text) == (TIME.tolist(), "Time", "Time in [s]")
    assert [read.description(name) for name in SERIES] == ["[rad]", "[m]", "[m]", ""]


def test_a_trajectory_file_has_the_matrices_of_dymola_in_their_order(result: Result, tmp_path: Path) -> None:
    """OpenModelica's reader asks for these names and types in this order: 51 text, 20 int32, 0 double."""
    data = result.save(tmp_path / "arm.mat").read_bytes()
    found, at = [], 0
    while at < len(data):
        kind, rows, columns, imaginary, length = struct.unpack_from("<5i", data, at)
        name = data[at + 20 : at + 20 + length].rstrip(b"\0").decode()
        found.append((name, kind, rows, columns))
        assert imaginary == 0
        at += 20 + length + rows * columns * {51: 1, 20: 4, 0: 8}[kind]
    assert found == [
        ("Aclass", 51, 4, 11), ("name", 51, 23, 5), ("description", 51, 11, 5), ("dataInfo", 20, 4, 5),
        ("data_1", 0, 1, 2), ("data_2", 0, 5, 4),
    ]  # fmt: skip


def test_parquet_holds_every_digit_and_the_units(result: Result, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(result.save(tmp_path / "arm.parquet"))
    assert table.column_names == ["time", *SERIES]
    assert [table[name].to_pylist() for name in SERIES] == [values.tolist() for values in SERIES.values()]
    units = [table.schema.field(name).metadata[b"unit"] for name in table.column_names]
    assert units == [b"s", b"rad", b"m", b"m", b""]


def test_a_result_without_variables_is_written(tmp_path: Path) -> None:
    empty = Result("empty", TIME[:1], {}, {})
    for suffix in (".csv", ".mat", ".parquet"):
        assert empty.save(tmp_path / f"empty{suffix}").stat().st_size > 0
    assert (tmp_path / "empty.csv").read_text() == '"time"\n0.0\n'


def test_the_suffix_selects_the_format(result: Result, tmp_path: Path) -> None:
    csv = result.save(tmp_path / "a.csv").read_bytes()
    assert result.save(tmp_path / "b.CSV").read_bytes() == csv
    assert result.save(tmp_path / "c").read_bytes() == csv
    assert result.save(tmp_path / "a.MAT").read_bytes()[20:26] == b"Aclass"
    with pytest.raises(fm.SolverError, match=r"a\.xlsx' has an unknown format of results\. Give one of \.csv, \.mat"):
        result.save(tmp_path / "a.xlsx")
    with pytest.raises(fm.SolverError, match=r"cannot write '.*a\.mat': No such file"):
        result.save(tmp_path / "nowhere" / "a.mat")


def test_without_pyarrow_the_message_says_what_to_install(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(fm.SolverError, match=r"pip install 'fmumbs\[sweep\]'"):
        result.save(tmp_path / "a.parquet")
