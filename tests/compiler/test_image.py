"""A ModelImage is bytes: it compares, travels and is checked."""

import hashlib
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest

import fmumbs as fm
from fmumbs.compiler import ModelImage, compile, layout
from fmumbs.compiler.layout import lib, pack
from fmumbs.readers import read_model
from fmumbs.run import Solver

HASH = 24  # where the hash stands in an image


def test_images_with_equal_bytes_are_equal(image: ModelImage, zoo: fm.Model) -> None:
    other = ModelImage.load(image.bytes)
    assert other == image
    assert hash(other) == hash(image)
    assert image != "zoo"
    zoo.output("x", of="A.q")
    assert compile(zoo) != image


def test_an_image_is_pickled(image: ModelImage) -> None:
    other = pickle.loads(pickle.dumps(image))
    assert other == image
    assert other.variables.names() == image.variables.names()


def test_different_images_have_different_hashes_and_guids(image: ModelImage, narrow: fm.Model) -> None:
    other = compile(narrow)
    assert len(image.hash) == 64
    assert image.hash != other.hash
    assert image.guid != other.guid
    assert image.guid.strip("{}").replace("-", "") == image.hash[:32]


def test_an_image_prints_its_name(image: ModelImage) -> None:
    assert repr(image).startswith("ModelImage('zoo', ")


def test_an_image_is_saved_and_loaded(image: ModelImage, tmp_path: Path) -> None:
    path = image.save(tmp_path / "zoo.fmb")
    assert ModelImage.load(path) == image
    assert ModelImage.load(str(path)) == image
    assert [file.name for file in tmp_path.iterdir()] == ["zoo.fmb"]


def test_a_failed_write_leaves_no_file(image: ModelImage, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        image.save(tmp_path / "nowhere" / "zoo.fmb")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda b: b"", "it does not begin with FMUMBS"),
        (lambda b: b"<xml>" + b, "it does not begin with FMUMBS"),
        (lambda b: b[:-8], "bytes, its header says"),
        (lambda b: b + bytes(8), "bytes, its header says"),
        (lambda b: b[:1000] + bytes([b[1000] ^ 1]) + b[1001:], "its checksum is wrong"),
        (lambda b: b[:8] + b"\xff" + b[9:], "version 255|version [0-9]+, this library reads"),
    ],
)
def test_damaged_bytes_are_refused(damage, message: str, image: ModelImage) -> None:
    with pytest.raises(fm.ModelError, match=message):
        ModelImage(damage(image.bytes))


def test_an_altered_image_with_a_right_checksum_is_refused(image: ModelImage) -> None:
    """Masses doubled, the checksum repaired, the hash left as it was."""
    heavier = image.arrays | {"inertia": 2.0 * image.arrays["inertia"]}
    made = pack(image.sizes, heavier)
    altered = image.bytes[:HASH] + image.bytes[HASH : HASH + 32] + made[HASH + 32 :]
    assert altered[HASH + 32 :] != image.bytes[HASH + 32 :]
    with pytest.raises(fm.ModelError, match="the model image was altered: its SHA-256"):
        ModelImage.load(altered)
    assert ModelImage.load(made).hash != image.hash


@pytest.mark.parametrize("by", [-1, 1, 10**6])
@pytest.mark.parametrize(
    "column", ["joint_p", "joint_u", "joint_np", "joint_nu", "joint_modes", "variable_kind", "variable_object"]
)
def test_each_invalid_number_is_refused(column: str, by: int, image: ModelImage) -> None:
    """Of any joint that moves and of any variable, the first and the last too."""
    moving = (image.arrays["joint_np"] > 0) & (image.arrays["joint_first"] >= 0)
    rows = np.flatnonzero(moving) if column.startswith("joint") else np.arange(len(image.arrays[column]))
    for row in rows if abs(by) > 1 or column.startswith("joint") else rows[:: len(rows) - 1]:
        changed = image.arrays[column].copy()
        changed[row] += by
        if column.startswith("variable") and 0 <= changed[row] <= image.arrays[column].max():
            continue  # another variable
        with pytest.raises(fm.ModelError, match="damaged"):
            ModelImage.load(pack(image.sizes, image.arrays | {column: changed}))


@pytest.mark.parametrize("cut", [False, True])
def test_a_start_quaternion_of_zeros_is_refused(cut: bool) -> None:
    model, rod = fm.Model("m"), fm.Body.rod("r", length=1.0, mass=1.0, radius=0.1)
    model.add(rod, fm.Spherical("S", model.ground.at(), rod.base, cut=cut, stiffness=1.0 if cut else 0.0))
    if cut:
        model.add(fm.Free("F", model.ground.at(), rod.at()))
    image, array = compile(model), "cut_start" if cut else "start_p"
    starts = np.array(image.arrays[array])
    first = 0 if cut else int(np.flatnonzero(starts == 1.0)[0])
    starts[first : first + 4] = 0.0
    with pytest.raises(fm.ModelError, match="a start quaternion is zero"):
        ModelImage.load(pack(image.sizes, image.arrays | {array: starts}))


@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 119, 120, 1000])
def test_the_cores_sha_256_is_hashlibs(size: int) -> None:
    body = bytes((7 * i + i // 251) & 255 for i in range(size))
    image = bytes(HASH) + hashlib.sha256(body).digest() + bytes(8) + body
    assert lib.fm_hash_fits(image, len(image)) == 1
    for i in {HASH, HASH + 31, len(image) - 1} - {63}:
        other = image[:i] + bytes([image[i] ^ 1]) + image[i + 1 :]
        assert lib.fm_hash_fits(other, len(other)) == 0
    assert lib.fm_hash_fits(image, 63) == 0


def test_the_integration_is_changed_in_a_new_image(image: ModelImage) -> None:
    other = image.with_options(scheme="rk4", step=0.005, tolerance=1e-4)
    starts = {v.name: v.start for v in other.variables if v.name.startswith("solver.")}
    assert (starts["solver.scheme"], starts["solver.step"], starts["solver.tolerance"]) == (1.0, 0.005, 1e-4)
    assert other != image
    assert other.variables.names() == image.variables.names()
    assert image.with_options() == image
    assert image.with_options(scheme=1) == image.with_options(scheme="rk4")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "euler"}, "scheme 'euler' is unknown. Choose one of: dopri5, rk4, radau"),
        ({"scheme": 7}, "scheme 7 is unknown"),
        ({"step": 0.0}, "'zoo': step is 0, but it must be positive"),
        ({"step": float("nan")}, "step is nan, but must be finite"),
        ({"tolerance": -1e-6}, "tolerance is -1e-06, but it must be at least 1e-14"),
        ({"tolerance": "small"}, "tolerance is 'small', which is not a number"),
    ],
)
def test_wrong_options_are_refused(options: dict, message: str, image: ModelImage) -> None:
    with pytest.raises(fm.ModelError) as caught:
        image.with_options(**options)
    assert message in str(caught.value)


def test_solvers_of_one_image_do_not_share_a_state(image: ModelImage) -> None:
    one, other = Solver(image), Solver(image)
    one.set("A.q", 1.0)
    assert other.get("A.q") == 0.2


def test_solvers_do_not_change_the_starts_in_the_table(zoo: fm.Model) -> None:
    image = compile(zoo)
    solver = Solver(image)
    solver.set("A.q", 1.0)
    found = image.variables.find("A.q")
    assert found is not None
    assert found.start == 0.2
    assert Solver(image).get("A.q") == 0.2


def test_a_solver_starts_from_the_same_bits_when_the_table_was_read_before(zoo: fm.Model) -> None:
    read, untouched = compile(zoo), compile(zoo)
    assert len(list(read.variables)) == len(read.variables)
    solvers = [Solver(read), Solver(untouched)]
    assert solvers[0].state_save() == solvers[1].state_save()
    for solver in solvers:
        solver.assemble()
        solver.step(0.1)
    assert solvers[0].state_save() == solvers[1].state_save()


@pytest.mark.parametrize(("size", "number", "message"), [
    ("variables", 100_000_001, "too many variables of the interface: 100000001, the limit is 100000000;"),
    ("rows", 2_000_000_000, "too many constraint rows"),
    ("rows", -1, "damaged"),
])  # fmt: skip
def test_sizes_that_are_too_large_are_reported(size: str, number: int, message: str) -> None:
    image = compile(read_model("pendulum")).bytes
    body = bytearray(image[layout.HEADER :])
    struct.pack_into("=i", body, 4 * layout.size_names().index(size), number)
    with pytest.raises(fm.ModelError, match=message):
        fm.ModelImage.load(layout._header(memoryview(body)) + body)


@pytest.mark.parametrize("offset", [0, 1, 4, 8])
def test_an_image_may_lie_anywhere_and_is_not_read_after_opening(offset: int) -> None:
    ffi, lib, image = layout.ffi, layout.lib, compile(read_model("four_bar"))
    room, message, out = ffi.new("char[]", len(image.bytes) + 8), ffi.new("char[]", 512), ffi.new("fm_instance **")
    ffi.memmove(room + offset, image.bytes, len(image.bytes))
    assert lib.fm_open(room + offset, len(image.bytes), out, message, 512) == lib.FM_OK, ffi.string(message)
    ffi.buffer(room)[:] = b"\xff" * len(room)
    instance = ffi.gc(out[0], lib.fm_close)
    assert lib.fm_assemble(instance, 0.0) == lib.fm_step(instance, 0.1) == lib.FM_OK
    found = np.empty(image.sizes["positions"])
    lib.fm_positions(instance, ffi.from_buffer("double[]", found), len(found))
    solver = fm.Solver(image)
    solver.assemble()
    solver.step(0.1)
    assert found.tobytes() == solver.positions.tobytes()
    assert lib.fm_reset(instance) == lib.fm_assemble(instance, 0.0) == lib.FM_OK


@pytest.mark.parametrize("column", ["kinetic", "static", "stribeck", "stiffness", "own"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_coefficients_of_friction_are_positive_and_normal_forces_not_negative(column: str, value: float) -> None:
    image = fm.compile(read_model("braked_rotor", {}))
    changed = image.arrays[f"friction_{column}"].copy()
    changed[-1] = value
    damaged = pack(image.sizes, image.arrays | {f"friction_{column}": changed})
    if column == "own" and value == 0.0:
        ModelImage(damaged)
        return
    with pytest.raises(fm.ModelError, match="damaged"):
        ModelImage(damaged)
