"""Files of results: what other programs read in them, and what is read back."""

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fmumbs as fm
from fmumbs.readers import read_model
from fmumbs.run import Result
from fmumbs.run.details import Details
from support.trajectories import read_trajectories

FORMATS = (".csv", ".mat", ".h5", ".parquet")
TIME = np.array([0.0, 0.1, 0.25, 1e-7 + 1 / 3])
SERIES = {"A.q": np.sin(TIME), "b.r[1]": 1 / (1 + TIME), "b.r[2]": -TIME, "a_very_long_name.of.tau": TIME * 1e300}


@pytest.fixture
def result() -> Result:
    return Result("arm", TIME, SERIES, {"A.q": "rad", "b.r[1]": "m", "b.r[2]": "m", "a_very_long_name.of.tau": ""})


@pytest.fixture
def described() -> Result:
    """With descriptions and parameters; one description ends like a unit."""
    descriptions = {"A.q": "joint position", "a_very_long_name.of.tau": "column x[1]", "b.mass": "mass of the body"}
    details = Details(descriptions, {"b.mass": 1 / 3, "k.Φ": -0.0}, {"b.mass": "kg", "k.Φ": ""})
    return Result("arm", TIME, SERIES, {"A.q": "rad", "b.r[1]": "m", "b.r[2]": "m"}, details)


def test_csv_has_the_bytes_that_fmpy_writes(result: Result, tmp_path: Path) -> None:
    from fmpy.util import read_csv, write_csv

    table = np.rec.fromarrays([TIME, *SERIES.values()], names=["time", *SERIES])
    write_csv(tmp_path / "fmpy.csv", np.asarray(table))
    path = result.save(tmp_path / "ours.csv")
    assert path.read_bytes() == (tmp_path / "fmpy.csv").read_bytes()
    for name, values in {"time": TIME, **SERIES}.items():
        assert read_csv(path)[name].tolist() == values.tolist()


def test_a_trajectory_file_is_read_by_scipy(result: Result, tmp_path: Path) -> None:
    read = read_trajectories(result.save(tmp_path / "arm.mat"))
    assert {name: one.values.tolist() for name, one in read.items()} == {
        name: values.tolist() for name, values in {"Time": TIME, **SERIES}.items()
    }
    assert [one.description for one in read.values()] == ["Time in [s]", "[rad]", "[m]", "[m]", ""]


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
    for suffix in FORMATS:
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


@pytest.mark.parametrize(
    ("library", "extra", "use"),
    [
        ("pyarrow", "sweep", lambda result, folder: result.save(folder / "a.parquet")),
        ("h5py", "results", lambda result, folder: result.save(folder / "a.h5")),
        ("h5py", "results", lambda result, folder: Result.load(folder / "a.hdf5")),
        ("pandas", "results", lambda result, folder: result.to_pandas()),
        ("xarray", "results", lambda result, folder: result.to_xarray()),
    ],
)
def test_without_a_library_the_message_says_what_to_install(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, extra: str, use: Any
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(fm.SolverError, match=rf"needs? {library}\. .*pip install 'fmumbs\[{extra}\]'"):
        use(result, tmp_path)


# Read back -----------------------------------------------------------------------------------------------------


def bits(values: np.ndarray) -> list[int]:
    return list(np.asarray(values, np.float64).view(np.int64).tolist())


def assert_same(read: Result, result: Result) -> None:
    """The same names in the same order, and the same bits."""
    assert read.names == result.names
    assert bits(read.time) == bits(result.time)
    for name in result.names:
        assert bits(read[name]) == bits(result[name]), name


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_run_is_read_back_bit_for_bit(suffix: str, tmp_path: Path) -> None:
    """With units, descriptions and parameters, which CSV has no place for."""
    result = fm.simulate(read_model("four_bar"), stop=0.05)
    assert result.parameters["crank.mass"] == 0.3 and result.parameter_units["crank.mass"] == "kg"
    read = Result.load(result.save(tmp_path / f"four_bar{suffix}"))
    assert_same(read, result)
    assert read.name == "four_bar"
    if suffix != ".csv":
        assert read.parameters == result.parameters and read.parameter_units == result.parameter_units
        assert read.descriptions == result.descriptions
        assert {name: read.units[name] for name in read} == result.units


@pytest.mark.parametrize("suffix", FORMATS[1:])
def test_descriptions_and_parameters_are_read_back(described: Result, suffix: str, tmp_path: Path) -> None:
    read = Result.load(described.save(tmp_path / f"arm{suffix}"))
    assert read.descriptions == described.descriptions
    assert {name: bits(np.array([v])) for name, v in read.parameters.items()} == {
        name: bits(np.array([v])) for name, v in described.parameters.items()
    }
    assert read.parameter_units == described.parameter_units
    assert {name: unit for name, unit in read.units.items() if unit} == described.units


# names of variables as FMUs of other tools have them, or odder; a matrix of characters ends with blanks
NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(
    lambda name: name == name.rstrip() and name.lower() != "time"
)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_names_and_numbers_are_read_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 4), "times")
    numbers = st.lists(st.floats(), min_size=count, max_size=count).map(np.array)
    names = data.draw(st.lists(NAMES, unique=True, max_size=6), "names")
    series = {name: data.draw(numbers) for name in names}
    result = Result("odd", np.arange(count) / 3.0, series, {})
    folder = tmp_path_factory.mktemp("odd")
    for suffix in FORMATS[1:]:
        assert_same(Result.load(result.save(folder / f"a{suffix}")), result)
    read = Result.load(result.save(folder / "a.csv"))
    assert read.names == names
    for name in names:
        assert np.array_equal(read[name], result[name], equal_nan=True)


def test_thousands_of_variables_are_read_back(tmp_path: Path) -> None:
    values = np.random.default_rng(5).standard_normal((2000, 3))
    result = Result("long", TIME[:3], {f"b{i}.r[{i % 3 + 1}]": row for i, row in enumerate(values)}, {})
    for suffix in FORMATS:
        assert_same(Result.load(result.save(tmp_path / f"long{suffix}")), result)


def test_the_parameters_of_a_run_are_those_that_did_not_move() -> None:
    moving = {"rod.mass": lambda t: 1.0 + t, "rod.inertia": (0.0, 0.2, 0.2, 0.0, 0.0, 0.0), "A.tau": 0.5}
    result = fm.simulate(read_model("pendulum"), stop=0.1, inputs=moving)
    assert "rod.mass" not in result.parameters and "A.tau" not in result.parameters
    assert result.parameters["rod.inertia[2]"] == 0.2
    assert "rod.mass" not in fm.simulate(read_model("pendulum"), stop=0.1, outputs=["rod.mass"]).parameters


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("content", [b"", b"no result", bytes(range(256)) * 9])
def test_damaged_files_are_reported(suffix: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    with pytest.raises(fm.SolverError, match=r"cannot read '.*a\.|a\.\w+' cannot be read as"):
        Result.load(path)
    path.write_bytes(content)
    with pytest.raises(fm.SolverError, match=r"a\.\w+' cannot be read as"):
        Result.load(path)


def test_a_name_that_a_table_cannot_hold_twice_is_refused(tmp_path: Path) -> None:
    result = Result("clock", TIME, {"time": -TIME}, {})
    for use in (result.to_xarray, lambda: result.save(tmp_path / "a.parquet")):
        with pytest.raises(fm.SolverError, match="a variable is called 'time'"):
            use()
    for suffix in (".csv", ".mat", ".h5"):
        assert_same(Result.load(result.save(tmp_path / f"a{suffix}")), result)


# In other programs ---------------------------------------------------------------------------------------------


def test_parameters_are_constants_of_a_trajectory_file(described: Result, tmp_path: Path) -> None:
    """In data_1, two values each."""
    from scipy.io import loadmat

    path = described.save(tmp_path / "arm.mat")
    read = read_trajectories(path)
    assert read["b.mass"].block == 1 and read["A.q"].block == 2
    assert read["b.mass"].values.tolist() == [1 / 3, 1 / 3]
    assert read["b.mass"].description == "mass of the body [kg]"
    assert read["A.q"].description == "joint position [rad]"
    found = loadmat(path)
    assert found["data_1"][0].tolist() == [TIME[0], TIME[-1]]
    assert found["dataInfo"][:, -2].tolist() == [1, 2, 0, 0]


def test_a_trajectory_of_another_tool_is_read(tmp_path: Path) -> None:
    """Not transposed, in single precision, with an alias of the opposite sign and a display unit."""
    from scipy.io import savemat

    names = np.array(["time ", "x    ", "minus", "k    "])
    texts = np.array(["Time in [s]       ", "angle [rad|deg]   ", "angle [rad|deg]   ", "[N.m/rad] constant"])
    series = np.array([[0.0, 0.5, 1.0], [1.0, 2.0, 4.0]], np.float32).T
    info = np.array([[0, 1, 0, -1], [2, 2, 0, -1], [2, -2, 0, -1], [1, 2, 0, 0]], np.int32)
    kind = np.array(["Atrajectory", "1.1        ", "           ", "binNormal  "])
    data_1 = np.array([[0.0, 7.0], [1.0, 7.0]])
    matrices = {"Aclass": kind, "name": names, "description": texts, "dataInfo": info, "data_1": data_1}
    savemat(tmp_path / "other.mat", {**matrices, "data_2": series}, format="4")
    read = Result.load(tmp_path / "other.mat")
    assert read.time.tolist() == [0.0, 0.5, 1.0]
    assert {name: values.tolist() for name, values in read.items()} == {"x": [1, 2, 4], "minus": [-1, -2, -4]}
    assert (read.units, read.parameters) == ({"x": "rad", "minus": "rad"}, {"k": 7.0})
    assert read.descriptions == {"x": "angle", "minus": "angle", "k": "[N.m/rad] constant"}


def test_hdf5_is_read_by_h5py(described: Result, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(described.save(tmp_path / "arm.h5")) as file:
        assert (file.attrs["model"], file["time"].attrs["unit"]) == ("arm", "s")
        assert list(file["variables"]) == list(SERIES)
        assert file["variables/A.q"][()].tolist() == SERIES["A.q"].tolist()
        assert dict(file["variables/A.q"].attrs) == {"name": "A.q", "unit": "rad", "description": "joint position"}
        assert file["parameters/b.mass"][()] == 1 / 3


def test_parquet_is_read_by_pandas_and_holds_parameters(described: Result, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = described.save(tmp_path / "arm.parquet")
    frame = pandas.read_parquet(path)
    assert list(frame.columns) == ["time", *SERIES]
    assert frame["A.q"].tolist() == SERIES["A.q"].tolist()
    schema = parquet.read_schema(path)
    assert json.loads(schema.metadata[b"parameters"])["b.mass"] == [1 / 3, "kg", "mass of the body"]
    assert schema.field("A.q").metadata[b"description"] == b"joint position"


def test_numbers_that_are_not_finite_are_not_missing_in_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    result = Result("rough", TIME[:3], {"x": np.array([np.nan, np.inf, -np.inf])}, {})
    column = parquet.read_table(result.save(tmp_path / "a.parquet"))["x"]
    assert column.null_count == 0
    assert np.array_equal(column.to_numpy(), result["x"], equal_nan=True)


def test_a_data_frame_has_the_times_as_its_index(described: Result) -> None:
    pytest.importorskip("pandas")
    frame = described.to_pandas()
    assert list(frame.columns) == list(SERIES)
    assert (frame.index.name, frame.index.tolist()) == ("time", TIME.tolist())
    assert frame["b.r[2]"].tolist() == SERIES["b.r[2]"].tolist()
    assert frame.attrs["units"]["A.q"] == "rad" and frame.attrs["descriptions"]["A.q"] == "joint position"


def test_a_data_set_has_units_and_descriptions_as_attributes(described: Result) -> None:
    pytest.importorskip("xarray")
    data = described.to_xarray()
    assert list(data.data_vars) == list(SERIES)
    assert data["A.q"].dims == ("time",) and data["time"].values.tolist() == TIME.tolist()
    assert data["A.q"].attrs == {"units": "rad", "long_name": "joint position"}
    assert (data["time"].attrs["units"], data.attrs["model"], data.attrs["b.mass"]) == ("s", "arm", 1 / 3)
    at = float(data["b.r[2]"].interp(time=0.05))
    assert at == pytest.approx(-0.05)
