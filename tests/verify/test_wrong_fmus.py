"""Binaries with one fault each, found by exactly the check that is for it.

wrong_fmu.c stands in front of the right binary of a double pendulum. The message identifies the comparison that found
a fault, so that no comparison can be left out of fmumbs verify without a test that fails.
"""

import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from fmpy import read_model_description

import fmumbs.verify.verifying
from fmumbs.verify.verifying import Finding, verify_fmu

CODE = Path(__file__).with_name("wrong_fmu.c")
CORE = Path(__file__).parents[2] / "fmumbs" / "core"
WAYS = {  # the check, and what its sentence holds
    "RESET_KEEPS_AN_INPUT": ("reset", "of a new instance and one that was reset"),
    "LONG_STEPS_ARE_PUSHED": ("variable communication steps", "with even and uneven communication steps"),
    "SET_STATE_KEEPS_THE_INPUTS": ("state", "before and after fmi2SetFMUstate"),
    "READ_STATE_LOSES_THE_INPUTS": ("serialised state", "before and after serialisation"),
    "READ_STATE_IS_WRITTEN_OTHERWISE": ("serialised state", "has other bytes"),
    "INPUT_DERIVATIVES_ARE_IGNORED": ("input derivatives", "with input derivatives of order 1"),
    "THIRD_INPUT_DERIVATIVES_ARE_IGNORED": ("input derivatives", "with input derivatives of order 3"),
    "SECOND_INPUT_DERIVATIVES_ARE_REFUSED": ("input derivatives", "refuses order 2"),
    "THIRD_INPUT_DERIVATIVES_BREAK": ("input derivatives", "refuses order 3"),
    "STEPS_AFTER_THIRD_INPUT_DERIVATIVES_BREAK": ("input derivatives", "fmi2DoStep failed"),
    "DIRECTIONAL_DERIVATIVES_ARE_TOO_LARGE": ("directional derivatives", "by differences"),
    "DIRECTIONAL_DERIVATIVES_AGE": ("directional derivatives", "by differences"),
    "SUMS_OF_DIRECTIONAL_DERIVATIVES_ARE_TOO_LARGE": ("directional derivatives", "summed over each"),
    "OUTPUT_DERIVATIVES_ARE_TOO_LARGE": ("output derivatives", "by differences"),
    "DECLARED_DERIVATIVES_ARE_TOO_LARGE": ("output derivatives", "and the declared derivative"),
    "DIRECTIONAL_DERIVATIVES_TURN_INFINITE": ("directional derivatives", "'A.reaction.f[1]'"),
    "DIRECTIONAL_DERIVATIVES_TURN_NOT_A_NUMBER": ("directional derivatives", "'A.reaction.f[1]'"),
    "OUTPUT_DERIVATIVES_TURN_INFINITE": ("output derivatives", "'A.reaction.f[1]'"),
    "OUTPUT_DERIVATIVES_TURN_NOT_A_NUMBER": ("output derivatives", "'A.reaction.f[1]'"),
    "SECOND_INSTANCES_ARE_PUSHED": ("instances and steps", "of two instances"),
    "VALUES_TURN_NOT_A_NUMBER": ("instances and steps", "not finite"),
    "CONSTANTS_ARE_INVERTED": ("instances and steps", "Boolean constants"),
    "VALUES_ARE_OFF_BY_A_BIT": ("parity with the Solver", "in FMU and Solver"),
    "PARAMETERS_START_ELSEWHERE": ("start values", "from the binary and as described"),
    "STEPS_FAIL": ("instances and steps", "fmi2DoStep from 0.03 s by 0.01 s fails"),
    "STOP_TIMES_ARE_FORGOTTEN": ("stop time", "is not refused"),
}


@pytest.fixture
def wrong(
    pendulum_fmu: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], tuple[list[Finding], list[Finding]]]:
    """Findings and notes about a pendulum whose binary is wrong in the given way."""
    monkeypatch.setattr(fmumbs.verify.verifying, "_validation", lambda path: iter(()))  # FMPy's own, and slow

    def findings(way: str) -> tuple[list[Finding], list[Finding]]:
        notes: list[Finding] = []
        return verify_fmu(_with_binary(pendulum_fmu, tmp_path, way), notes=notes.append), notes

    return findings


@pytest.mark.parametrize("way", WAYS)
def test_each_wrong_binary_is_found_by_its_check_alone(way: str, wrong: Callable[..., object]) -> None:
    check, words = WAYS[way]
    findings, notes = wrong(way)
    shared = {"Jacobian"} if check == "directional derivatives" else set()  # by the same function, in the other kind
    assert {finding.check for finding in findings} - shared == {check}
    assert all(words in finding.message for finding in findings if finding.check == check)
    assert not notes


def test_the_wrapper_of_the_binary_passes_without_a_fault(wrong: Callable[..., object]) -> None:
    assert wrong("-1") == ([], [])


def _with_binary(fmu: Path, folder: Path, way: str) -> Path:
    """A copy of the FMU whose binary is wrong_fmu.c before its own."""
    unzipped = folder / "unzipped"
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(unzipped)
    binary = next((unzipped / "binaries" / "linux64").iterdir())
    binary.rename(binary.with_name("real.so"))
    _compile(way, binary, {v.name: v.valueReference for v in read_model_description(str(fmu)).modelVariables})
    path = folder / "wrong.fmu"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(unzipped.rglob("*")):
            archive.write(file, file.relative_to(unzipped).as_posix())
    return path


def _compile(way: str, target: Path, references: dict[str, int]) -> None:
    compiler = shutil.which("cc")
    assert compiler is not None
    names = {"INPUT": "A.tau", "PARAMETER": "upper.mass", "UNDECLARED": "A.reaction.f[1]"}
    defined = {"WRONG": way, "INTERVAL": "0.01"} | {what: str(references[name]) for what, name in names.items()}
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-pedantic", "-Wno-unused-function", "-shared", "-fPIC"]
    flags += [f"-D{name}={value}" for name, value in defined.items()]
    flags += [f"-I{CORE}", f"-L{target.parent}", "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed"]
    subprocess.run([compiler, *flags, "-o", str(target), str(CODE), "-l:real.so", "-ldl", "-lm"], check=True)
