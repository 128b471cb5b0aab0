"""Takes the figures in data/ from the full ones; in tests/: python -m references.sample [FOLDER OF ROBOTS]

Rows are spread evenly over a curve, the first and the last among them, with the numbers as printed. Of the
robots, whose URDFs are under share/example-robot-data/robots of the PyPI package example-robot-data 6.0.0,
only what their dynamics needs is kept.
"""

import csv
import json
import sys
from pathlib import Path
from typing import Any

from references.figures import DATA, FULL
from references.urdf import Robot

ROWS = 14
CASES = 2

MSL = (
    "Modelica Standard Library 4.0.0 (the mechanisms: {}) and MAP-LIB_ReferenceResults, branch v4.0.0 "
    "(the curves, made with Dymola 2020x, DASSL, tolerance 1e-6)"
)
CHRONO = "projectchrono/chrono, data/testing/joints and src/tests/unit_tests/joints: results of ADAMS"
EXUDYN = (
    "Exudyn, docs/verification/HeavyTopSolution (commit 657f9c6) and TestModels/heavyTop.py; "
    "'recomputed' is an integration of our own"
)
IFTOMM = (
    "IFToMM library, spatial rigid slider-crank (Masoudi): rows of Gonzalez as in EXUDYN, docs/verification/"
    "Slidercrank3DiftommBenchmark (commit 657f9c6); the 'recomputed' columns are an integration of our own"
)
SUNDIALS = (
    "LLNL/sundials, examples/ida/serial/idaSlCrank_dns.c and .out; "
    "the 'recomputed' columns are an integration of our own"
)
STICK_SLIP = (
    "Canudas de Wit, Olsson, Astrom, Lischinsky 1995, with the numbers of Exudyn's Examples/lugreFrictionTest.py; "
    "'recomputed' is an integration of our own"
)
CORKE = "petercorke/robotics-toolbox-python, tests/test_DHRobot.py and models/DH/Puma560.py; Corke and Armstrong 1994"
RANKS = (
    "rows, ranks and indeterminate dimensions of the Jacobian of all joints at a general position, computed on our own "
    "by its singular values; the mechanisms: Wojtyra 2005, Wojtyra and Fraczek 2013"
)
ROBOTS = "PyPI example-robot-data 6.0.0, {}, what its dynamics needs; 'values' computed by Pinocchio 4.1.0"

CURVES = {  # case: source, licence, curves
    "msl_doublependulum": (MSL.format("Elementary.DoublePendulum"), "BSD-3-Clause", ["reference"]),
    "msl_pendulum_springdamper": (
        MSL.format("Elementary.PendulumWithSpringDamper"), "BSD-3-Clause", ["reference"],
    ),
    "msl_spherical_double_pendulum": (
        MSL.format("ModelicaTest.MultiBody.SphericalDoublePendulum"), "BSD-3-Clause", ["reference"],
    ),
    "msl_springs": (
        MSL.format("Elementary.FreeBody, SpringWithMass, HeatLosses, ForceAndTorque, ThreeSprings"), "BSD-3-Clause",
        ["freebody", "springwithmass", "heatlosses", "forceandtorque", "threesprings"],
    ),
    "msl_joint_constraints": (
        MSL.format("Constraints.RevoluteConstraint, SphericalConstraint, UniversalConstraint"),
        "BSD-3-Clause", ["revolute", "spherical", "universal"],
    ),
    "msl_rollingwheel": (MSL.format("Elementary.RollingWheel"), "BSD-3-Clause", ["reference"]),
    "msl_fourbar1": (MSL.format("Loops.Fourbar1"), "BSD-3-Clause", ["reference"]),
    "msl_fourbar2": (MSL.format("Loops.Fourbar2, Fourbar_analytic"), "BSD-3-Clause", ["reference", "fourbar_analytic"]),
    "msl_planarfourbar": (MSL.format("Loops.PlanarFourbar"), "BSD-3-Clause", ["reference"]),
    "msl_engine1": (MSL.format("Loops.Engine1a, Engine1b"), "BSD-3-Clause", ["reference", "engine1b"]),
    "ida_slidercrank": (SUNDIALS, "BSD-3-Clause", ["reference"]),
    "iftomm_spatial_slidercrank": (IFTOMM, "EXUDYN General License 1.0", ["reference"]),
    "heavy_top": (EXUDYN, "EXUDYN General License 1.0", ["reference", "recomputed"]),
    "lugre_stickslip": (STICK_SLIP, "our own", ["recomputed"]),
    "adams_joints": (
        CHRONO, "BSD-3-Clause",
        [
            f"{case}_Case01"
            for case in (
                "Revolute", "Spherical", "Prismatic", "RotSpring", "TranSpring",
                "Universal", "Cylindrical", "LinActuator", "Distance", "RevSpherical",
            )
        ],
    ),
}  # fmt: skip
LICENCES = {"double_pendulum": "BSD", "panda": "Apache-2.0", "z1": "MPL-2.0"}  # by the package's package.xml
LEFT_OUT = ("damper.",)  # columns of what the tests do not build


def sample(path: Path) -> dict[str, Any]:
    with path.open(encoding="utf-8", newline="") as file:
        columns, *rows = csv.reader(file)
    kept = [i for i, name in enumerate(columns) if not name.startswith(LEFT_OUT)]
    count = min(ROWS, len(rows))
    chosen = [round(k * (len(rows) - 1) / (count - 1)) for k in range(count)]
    return {
        "columns": [columns[i] for i in kept],
        "rows": [[float(rows[r][i]) for i in kept] for r in chosen],
    }


def text(value: Any, margin: str = "") -> str:
    """JSON with a line for each list of plain values."""
    inner = margin + " "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{json.dumps(key)}: {text(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{margin}}}"
    if isinstance(value, list | tuple) and any(isinstance(item, dict | list) for item in value):
        return "[\n" + ",\n".join(inner + text(item, inner) for item in value) + f"\n{margin}]"
    return json.dumps(value)


def write(case: str, source: str, licence: str, **content: Any) -> None:
    (DATA / f"{case}.json").write_text(text({"source": source, "licence": licence, **content}) + "\n", "utf-8")


def main(robots: str | None = None) -> None:
    for case, (source, licence, names) in CURVES.items():
        write(case, source, licence, curves={name: sample(FULL / case / f"{name}.csv") for name in names})
    for case, source, licence in (("puma560_rne", CORKE, "MIT"), ("reaction_uniqueness", RANKS, "our own")):
        write(case, source, licence, values=json.loads((FULL / case / "values.json").read_text("utf-8")))
    if robots is not None:
        values = json.loads((FULL / "urdf_pinocchio" / "values.json").read_text("utf-8"))
        for name, licence in LICENCES.items():
            robot = Robot.parse((Path(robots) / values[name]["urdf"]).read_text("utf-8"))
            kept = values[name] | {"cases": values[name]["cases"][:CASES]}
            write(f"urdf_{name}", ROBOTS.format(kept["urdf"]), licence, robot=robot.save(), values=kept)


if __name__ == "__main__":
    main(*sys.argv[1:])
