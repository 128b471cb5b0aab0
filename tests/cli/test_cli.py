"""The verbs: what they print, what they write, and their exit status: 0 fine, 1 problems, 2 wrong use."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fmumbs.cli import main

APART = """
import fmumbs as fm

def build():
    model = fm.Model("apart")
    model.add(fm.Body.rod("a", length=1.0, mass=1.0, radius=0.1))
    return model
"""

BRAKED = """
import fmumbs as fm

def build():
    model = fm.Model("braked")
    a, b = (fm.Body.rod(name, length=1.0, mass=1.0) for name in "ab")
    A = fm.Revolute("A", model.ground.at(), a.base, axis="y")
    B = fm.Revolute("B", a.tip, b.base, axis="y")
    model.add(a, b, A, B, fm.Coupling.gear("gear", A, B, ratio=2.0))
    model.add(fm.Spring("s", model.ground.at(0, 0, 3), a.tip, stiffness=1.0))
    model.add(fm.Law.brake("brake", A, 1.0), fm.Stop("stop", B, upper=1.0, stiffness=10.0))
    return model
"""


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fmumbs(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


# Help ------------------------------------------------------------------------------------------------------


def test_help_names_the_verbs_and_shows_examples() -> None:
    result = fmumbs("--help")
    assert result.exit_code == 0
    for verb in ("demo", "check", "info", "export", "run", "verify"):
        assert f"\n  {verb} " in result.output
    assert "fmumbs export double_pendulum --verify" in result.output


@pytest.mark.parametrize("verb", ["demo", "check", "info", "export", "run", "verify"])
def test_each_verb_teaches_by_an_example(verb: str) -> None:
    result = fmumbs(verb, "--help")
    assert result.exit_code == 0
    assert f"  fmumbs {verb}" in result.output


def test_help_loads_no_library_that_it_does_not_need() -> None:
    code = "import sys, fmumbs.cli as c; c.main(['--help'], standalone_mode=False); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"fmpy", "rich", "scipy", "matplotlib"} & set(loaded.split())


# Wrong use -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check"], "Missing argument"),
        (["check", "pendulun"], "nearest name is 'pendulum'"),
        (["check", "nothing.py"], "no file"),
        (["check", "pendulum", "--set", "lenght=2"], "nearest name is 'length'"),
        (["check", "pendulum", "--set", "length"], "NAME=VALUE"),
        (["export", "pendulum", "--scheme", "euler"], "euler"),
        (["export", "pendulum", "--step", "0"], "0"),
        (["export", "pendulum", "arm6", "-o", "a.fmu"], "folder"),
        (["run", "pendulum", "--stop", "-1"], "-1"),
        (["run", "pendulum", "--stop", "inf"], "inf is not finite"),
        (["run", "pendulum.fmu", "--interval", "nan"], "nan is not finite"),
        (["export", "pendulum", "--tol", "inf"], "inf is not finite"),
        (["run", "pendulum", "--out", "made/"], "'made/' is a folder"),
        (["run", "pendulum", "--plot", "made/a.png"], "there is no folder 'made'"),
        (["verify", "nothing.fmu"], "nothing.fmu"),
        (["fly"], "fly"),
    ],
)
def test_wrong_use_ends_with_2_and_says_why(arguments: list[str], message: str) -> None:
    result = fmumbs(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


# check -----------------------------------------------------------------------------------------------------


def test_check_tells_the_tree_and_the_mobility() -> None:
    result = fmumbs("check", "double_pendulum")
    assert result.exit_code == 0
    assert "upper" in result.output
    assert "mobility" in result.output


def test_check_counts_springs_loads_laws_and_couplings(tmp_path: Path) -> None:
    (tmp_path / "braked.py").write_text(BRAKED)
    lines = [line.split() for line in fmumbs("check", "braked.py").output.splitlines()]
    assert ["springs,", "loads,", "force", "laws", "1,", "0,", "2"] in lines
    assert ["couplings", "1"] in lines
    facts = json.loads(fmumbs("check", "braked.py", "--json").output)
    assert (facts["couplings"], facts["springs"], facts["loads"], facts["laws"]) == (1, 1, 0, 2)


def test_check_as_json() -> None:
    facts = json.loads(fmumbs("check", "arm6", "--json").output)
    assert (facts["bodies"], facts["mobility"], facts["loops"]) == (6, 6, 0)
    assert facts["problems"] == facts["warnings"] == []


def test_check_takes_parameters() -> None:
    facts = json.loads(fmumbs("check", "arm6", "--set", "joints=3", "--json").output)
    assert facts["bodies"] == 3


def test_check_of_a_model_that_does_not_compile_ends_with_1_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "apart.py").write_text(APART)
    result = fmumbs("check", "apart.py")
    assert result.exit_code == 1
    assert "problem: " in result.output
    assert "'a'" in result.output


# export, info, verify --------------------------------------------------------------------------------------


def test_export_writes_beside_where_it_is_called(tmp_path: Path) -> None:
    result = fmumbs("export", "pendulum")
    assert result.exit_code == 0
    assert "pendulum.fmu" in result.output
    assert zipfile.is_zipfile(tmp_path / "pendulum.fmu")


def test_export_of_several_into_a_folder(tmp_path: Path) -> None:
    assert fmumbs("export", "pendulum", "arm6", "-o", "made").exit_code == 0
    assert {path.name for path in (tmp_path / "made").iterdir()} == {"pendulum.fmu", "arm6.fmu"}


@pytest.mark.parametrize("folder", ["made/", "made/here/", ".", "./"])
def test_export_into_a_folder(folder: str, tmp_path: Path) -> None:
    assert fmumbs("export", "pendulum", "-o", folder).exit_code == 0
    assert zipfile.is_zipfile(tmp_path / folder / "pendulum.fmu")


def test_export_with_options_and_verification(tmp_path: Path) -> None:
    result = fmumbs(
        "export", "pendulum", "--set", "length=0.5", "-o", "short.fmu", "--scheme", "rk4", "--step", "1e-3",
        "--verify",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "0 problems" in result.output
    facts = json.loads(fmumbs("info", "short.fmu", "--json").output)
    starts = {v["name"]: v["start"] for v in facts["variables"]}
    assert (starts["solver.scheme"], starts["solver.step"]) == (1, 1e-3)


def test_export_of_too_many_variables_ends_with_1_and_says_how_to_narrow() -> None:
    result = fmumbs("export", "arm6", "--set", "joints=60")
    assert result.exit_code == 1
    assert "--all" in result.output
    assert fmumbs("export", "arm6", "--set", "joints=60", "--all").exit_code == 0


def test_info_of_a_model_and_of_its_fmu_agree() -> None:
    fmumbs("export", "double_pendulum")
    model = json.loads(fmumbs("info", "double_pendulum", "--json").output)
    fmu = json.loads(fmumbs("info", "double_pendulum.fmu", "--json").output)
    assert model["variables"] == fmu["variables"]
    assert model["guid"] == fmu["guid"]
    assert model["experiment"] == fmu["experiment"]
    assert fmu["platforms"] == ["linux64"]


def test_info_prints_names_with_their_brackets_and_units() -> None:
    output = fmumbs("info", "double_pendulum").output
    assert "A.reaction.f[1]" in output
    assert "N.m" in output
    assert "canGetAndSetFMUstate" in output


def test_verify_ends_with_0_for_a_right_fmu_and_with_1_for_a_wrong_one(tmp_path: Path) -> None:
    fmumbs("export", "pendulum")
    right = fmumbs("verify", "pendulum.fmu", "--against", "pendulum")
    assert right.exit_code == 0
    assert "0 problems" in right.output
    wrong = fmumbs("verify", "pendulum.fmu", "--against", "pendulum", "--set", "length=2.0")
    assert wrong.exit_code == 1
    assert "parity with the Solver" in wrong.output


def test_verify_of_what_is_no_fmu_ends_with_1(tmp_path: Path) -> None:
    (tmp_path / "text.fmu").write_text("no zip")
    result = fmumbs("verify", "text.fmu")
    assert result.exit_code == 1
    assert "no zip" in result.output


# run, demo -------------------------------------------------------------------------------------------------


def columns(path: Path) -> dict[str, list[float]]:
    header, *lines = path.read_text().splitlines()
    rows = [[float(value) for value in line.split(",")] for line in lines]
    return {name: [row[k] for row in rows] for k, name in enumerate(header.split(","))}


def test_a_model_and_its_fmu_run_to_the_same_numbers(tmp_path: Path) -> None:
    fmumbs("export", "double_pendulum")
    for target, out in (("double_pendulum", "model.csv"), ("double_pendulum.fmu", "fmu.csv")):
        result = fmumbs("run", target, "--stop", "0.5", "--interval", "0.05", "--out", out)
        assert result.exit_code == 0, result.output
        assert "A.q" in result.output
    model, fmu = columns(tmp_path / "model.csv"), columns(tmp_path / "fmu.csv")
    assert len(model["time"]) == len(fmu["time"]) == 11
    for name in ("A.q", "B.q", "A.qd", "B.qdd"):
        assert model[name] == fmu[name]


def test_run_takes_inputs_from_a_file(tmp_path: Path) -> None:
    fmumbs("export", "pendulum")
    (tmp_path / "torque.csv").write_text("time,A.tau\n0,0\n1,5\n")
    for target in ("pendulum", "pendulum.fmu"):
        options = ("--stop", "1", "--interval", "0.1", "--input", "torque.csv", "--out", "a.csv")
        assert fmumbs("run", target, *options).exit_code == 0
        pushed = columns(tmp_path / "a.csv")["A.q"]
        assert fmumbs("run", target, *options[:4], "--out", "a.csv").exit_code == 0
        assert columns(tmp_path / "a.csv")["A.q"][-1] != pushed[-1]


def test_run_refuses_inputs_that_there_are_not(tmp_path: Path) -> None:
    (tmp_path / "torque.csv").write_text("time,Z.tau\n0,0\n")
    result = fmumbs("run", "pendulum", "--stop", "1", "--input", "torque.csv")
    assert result.exit_code == 1
    assert "Z.tau" in result.output


def test_run_sets_the_scheme() -> None:
    result = fmumbs("run", "pendulum", "--stop", "0.1", "--scheme", "rk4", "--step", "1e-3")
    assert result.exit_code == 0, result.output


def test_run_draws(tmp_path: Path) -> None:
    assert fmumbs("run", "pendulum", "--stop", "0.2", "--plot", "a.png").exit_code == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_demo_exports_runs_prints_and_draws(tmp_path: Path) -> None:
    result = fmumbs("demo")
    assert result.exit_code == 0, result.output
    assert "the same bits as the Solver" in result.output
    assert "NOT" not in result.output
    made = {path.name for path in (tmp_path / "demo").iterdir()}
    assert made == {"double_pendulum.fmu", "double_pendulum.csv", "double_pendulum.png"}


# Runs that end early ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("target", ["pendulum", "pendulum.fmu"])
def test_a_run_that_fails_writes_what_there_is_and_says_so(target: str, tmp_path: Path) -> None:
    fmumbs("export", "pendulum")
    (tmp_path / "torque.csv").write_text("time,A.tau\n0,0\n0.3,0\n0.35,1e308\n")
    files = ("--input", "torque.csv", "--out", "a.csv", "--plot", "a.png")
    result = fmumbs("run", target, "--stop", "1", "--interval", "0.1", *files)
    assert result.exit_code == 1
    assert "A.q" in result.output
    assert "The run ended early: all of this reaches only to t = 0." in result.output
    assert "Error: " in result.output and "Traceback" not in result.output
    times = columns(tmp_path / "a.csv")["time"]
    assert 0.3 <= times[-1] < 1.0
    assert (tmp_path / "a.png").is_file()


def test_a_run_that_never_began_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "torque.csv").write_text("time,Z.tau\n0,0\n")
    result = fmumbs("run", "pendulum", "--input", "torque.csv", "--out", "a.csv")
    assert result.exit_code == 1
    assert "ended early" not in result.output
    assert not (tmp_path / "a.csv").exists()


CHAIN = """import fmumbs as fm
def build():
    model, last = fm.Model("chain"), None
    for i in range(100):
        rod, name = fm.Body.rod(f"rod{i}", length=1.0, mass=1.0, radius=0.1), f"A{i}" if i else "A"
        model.add(rod, fm.Revolute(name, last or model.ground.at(), rod.base, axis="xyz"[i % 3], q0=0.3))
        last = rod.tip
    return model
"""


@pytest.mark.parametrize("ending", ["", ".fmu"])
@pytest.mark.parametrize(("target", "interval"), [("double_pendulum", "0.1"), ("chain", "1e5")])
def test_ctrl_c_ends_a_run_with_130_and_what_there_is(target: str, interval: str, ending: str, tmp_path: Path) -> None:
    """Also within one step that would take minutes; an FMU that is amid such a step has no later row to give."""
    (tmp_path / "chain.py").write_text(CHAIN)
    source = "chain.py" if target == "chain" else target
    if ending:
        assert fmumbs("export", source, "--all").exit_code == 0
    name = target + ending if ending else source
    code = "import sys; from fmumbs.cli import main; print('ready', flush=True); main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "run", name, "--stop", "1e5", "--interval", interval, "--tol", "1e-8"]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, "--out", "a.csv"], stdout=pipe, stderr=pipe, text=True) as run:
        assert run.stdout is not None and run.stdout.readline() == "ready\n"
        time.sleep(3.0)
        run.send_signal(signal.SIGINT)
        output, errors = run.communicate(timeout=60)
    assert run.returncode == 130, errors
    assert "Traceback" not in errors
    assert "The run ended early: all of this reaches only to t = " in errors
    times = columns(tmp_path / "a.csv")["time"]
    assert 0.0 <= times[-1] < 1e5
    assert (times[-1] > 0.0) == (interval == "0.1" or ending == "")
    assert "A.q" in output


def test_ctrl_c_while_a_model_is_read_ends_with_130(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("raise KeyboardInterrupt\n")
    result = fmumbs("check", "slow.py")
    assert (result.exit_code, result.output) == (130, "interrupted\n")


# Names and texts ---------------------------------------------------------------------------------------------

BRACKETS = """
import fmumbs as fm

def build():
    model = fm.Model("brackets", description="[/b] and [red] :smile: \u6a21")
    model.add(body := fm.Body("b", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    model.add(fm.Revolute("A", model.ground.at(), body.at(), axis="x"))
    return model
"""


def test_texts_are_shown_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "brackets.py").write_text(BRACKETS, encoding="utf-8")
    for arguments in (["info", "brackets.py"], ["export", "brackets.py"], ["info", "brackets.fmu"]):
        result = fmumbs(*arguments)
        assert result.exit_code == 0, result.output
        assert "[/b] and [red] :smile: \u6a21" in result.output or arguments[0] == "export"


def test_an_encoding_that_lacks_a_letter_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "brackets.py").write_text(BRACKETS, encoding="utf-8")
    command = [sys.executable, "-c", "from fmumbs.cli import main; main()", "info", "brackets.py"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    shown = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
    assert b"\\u6a21" in shown


def test_a_reader_that_wants_no_more_is_no_error() -> None:
    command = f"{sys.executable} -c 'from fmumbs.cli import main; main()' info arm6 | head -1"
    ended = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stderr and "Error" not in ended.stderr


def test_no_memory_is_told() -> None:
    result = fmumbs("run", "pendulum", "--interval", "1e-7")
    assert result.exit_code == 1
    assert "Choose a longer interval" in result.output


# Reactions that are not unique -----------------------------------------------------------------------------


def test_check_tells_which_reactions_are_unique_and_the_mend() -> None:
    result = fmumbs("check", "four_bar")
    assert result.exit_code == 0
    assert "20, of which 17 are independent" in result.output
    assert "mend: free joint 'C' of force along y, torque about x, torque about z" in result.output
    assert "make flexible: crank, coupler, rocker" in result.output


def test_check_of_a_large_mechanism_shows_the_first_rows_and_says_how_many_more_there_are() -> None:
    cut, whole = (fmumbs("check", "rod_loop", *more).output.splitlines() for more in ([], ["--all"]))
    assert len(cut) < 100 < 200 < len(whole)
    assert [line for line in cut if line.startswith("... and")] == [
        "... and 76 more; --all shows them",  # of 100 rods: two chains, 12 levels of each
        "... and 61 more; --all shows them",  # of 101 joints, 40
    ]
    assert not any("more" in line for line in whole)
    assert sum("revolute" in line for line in whole) == 100


def test_run_of_a_large_mechanism_shows_the_first_rows() -> None:
    output = fmumbs("run", "arm6", "--set", "joints=30", "--stop", "0.01").output
    assert "... and 20 more; --out FILE.csv has them all" in output


def test_check_as_json_tells_rank_and_every_joint() -> None:
    facts = json.loads(fmumbs("check", "four_bar", "--json").output)
    assert (facts["rows"], facts["rank"], facts["redundant"], facts["mobility"]) == (20, 17, 3, 1)
    assert [joint["joint"] for joint in facts["joints"]] == ["A", "B", "D", "C"]
    for joint in facts["joints"]:
        assert (joint["unique"], joint["indeterminate_dimension"]) == (False, 3)
        assert joint["components_unique"] == [True, False, True, False, True, False]


def test_check_of_a_tree_tells_that_all_is_unique() -> None:
    facts = json.loads(fmumbs("check", "arm6", "--json").output)
    assert (facts["rows"], facts["rank"], facts["redundant"], facts["singular"]) == (30, 30, 0, False)
    assert all(joint["unique"] and all(joint["components_unique"]) for joint in facts["joints"])


@pytest.mark.parametrize(
    ("joints", "unique", "components"),
    [("A,C,E,G", True, False), ("K,M", True, True), ("A,C,E,G,K,M", True, False), ("A", False, False)],
)
def test_check_of_a_set_of_joints(joints: str, unique: bool, components: bool) -> None:
    arguments = ("check", "parallelogram_pendulum", "--set-of", joints)
    told = json.loads(fmumbs(*arguments, "--json").output)["set"]
    assert (told["unique"], told["components_unique"]) == (unique, components)
    assert f"in total {'unique' if unique else 'not unique'}" in fmumbs(*arguments).output


def test_check_of_a_set_with_a_joint_that_is_not_there() -> None:
    result = fmumbs("check", "four_bar", "--set-of", "A,E")
    assert result.exit_code == 1
    assert "there is no joint 'E'" in result.output


@pytest.mark.parametrize("tool", ["rank", "qr", "svd", "nullspace"])
def test_check_by_divide_and_conquer_tells_its_steps(tool: str) -> None:
    arguments = ("check", "parallelogram_pendulum", "--tool", tool, "--set-of", "K,M")
    told = json.loads(fmumbs(*arguments, "--json").output)["divide_and_conquer"]
    assert told["tool"] == tool
    assert [(one["rank"], one["size"]) for one in told["connections"]] == [(17, 18)]
    assert [step["step"] for step in told["steps"]] == [1, 2, 3, 4, 5, 6, 7, 6, 7]
    assert told["set"] == {"unique": True, "components_unique": True}
    output = fmumbs(*arguments).output
    assert f"G has rank 17 of 18 ({tool})" in output
    assert "bodies with two joints, one of them known" in output


FOLDED = """
import fmumbs as fm

def build():
    model = fm.Model("folded")
    a, b, c = (fm.Body.rod(n, length=l, mass=1.0, radius=0.01) for n, l in (("a", 1.0), ("b", 2.0), ("c", 1.0)))
    model.add(a, b, c, fm.Revolute("A", model.ground.at(), a.base, axis="y"))
    model.add(fm.Revolute("B", a.tip, b.base, axis="y"), fm.Revolute("D", model.ground.at(2, 0, 0), c.base, axis="y"))
    model.add(fm.Revolute("C", b.tip, c.tip, axis="y"))
    return model
"""


def test_check_of_a_singular_start_says_so_and_by_how_much(tmp_path: Path) -> None:
    (tmp_path / "folded.py").write_text(FOLDED)
    result = fmumbs("check", "folded.py", "--json")
    facts = json.loads(result.output)
    assert result.exit_code == 1
    assert (facts["singular"], facts["rank"], set(facts["rank_nearby"])) == (True, 16, {17})
    assert "the loops are singular at the start" in facts["problems"][0]
