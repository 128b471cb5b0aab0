"""Mechanisms of waiting.py that do not ship, and what peers take for the same run."""

import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np

import fmumbs as fm

PITCH = 0.09  # m between cylinders


def six_cylinders(stroke: float = 0.08, rod: float = 0.14, speed: float = 150.0) -> fm.Model:
    """Six cylinders in line on one crankshaft, each as that of models/engine.py; pins at 0, 120, 240 degrees."""
    model = fm.Model("six_cylinders")
    radius, start = stroke / 2, 0.5
    crank = fm.Body("crank", mass=12.0, inertia=(0.4, 0.04, 0.4))
    model.add(crank)
    bearing = fm.Revolute("bearing", model.ground.at(), crank.at(), axis="y", q0=start, u0=speed, damping=2e-3)
    model.add(bearing)
    for k, pin in enumerate(np.radians([0, 120, 240, 240, 120, 0]).tolist()):
        angle = start + pin
        lean = float(np.arcsin(-radius * np.sin(angle) / rod))
        top = float(radius * np.cos(angle) + rod * np.cos(lean))
        throw = crank.at(radius * np.sin(pin), k * PITCH, radius * np.cos(pin))
        con = fm.Body.rod(f"rod{k}", length=rod, mass=0.4, radius=0.01, along="z")
        piston = fm.Body.cylinder(f"piston{k}", length=0.06, radius=0.04, mass=0.5, along="z")
        model.add(con, piston)
        model.add(
            fm.Revolute(f"crankpin{k}", throw, con.base, axis="y", q0=lean - start),
            fm.Prismatic(f"bore{k}", model.ground.at(0, k * PITCH, 0), piston.base, axis="z", q0=top,
                         stiffness=3000.0, rest=rod),
            fm.Revolute(f"gudgeon{k}", con.tip, piston.base, axis="y"),
        )  # fmt: skip
    return model


def fmpy_seconds(model: fm.Model, stop: float, interval: float) -> float:
    """Processor time [s] of FMPy's simulate_fmu of the model's FMU, which is unpacked and has an instance already."""
    import fmpy

    with tempfile.TemporaryDirectory() as folder:
        path = fm.export_fmu(model, Path(folder) / f"{model.name}.fmu")
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        description = fmpy.read_model_description(folder)
        slave = fmpy.instantiate_fmu(folder, description)

        def run() -> float:
            slave.reset()
            start = time.process_time()
            fmpy.simulate_fmu(folder, stop_time=stop, output_interval=interval, model_description=description,
                              fmu_instance=slave)  # fmt: skip
            return time.process_time() - start

        try:
            return min(run() for _ in range(5))
        finally:
            slave.freeInstance()


def mujoco_seconds(joints: int, stop: float, runs: int = 50) -> float | None:
    """Processor time [s] of a run of models/arm6.py by mujoco.rollout, by RK4 at 10 ms, from random start values.

    None where MuJoCo is not installed.
    """
    try:
        import mujoco
        from mujoco import rollout
    except ImportError:
        return None
    links = "".join(
        f'<body pos="0 0 {-1.0 if i else 0.0}"><joint axis="{axis}" damping="0.1"/>'
        '<geom type="cylinder" fromto="0 0 0 0 0 -1" size="0.05" mass="1"/>'
        for i, axis in enumerate(["1 0 0", "0 1 0", "0 0 1"] * (joints // 3))
    )
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep="0.01" integrator="RK4"><flag contact="disable"/></option>'
        f"<worldbody>{links}{'</body>' * joints}</worldbody></mujoco>"
    )
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    starts = np.zeros((runs, size))
    starts[:, 1 : 1 + joints] = np.random.default_rng(1).uniform(0.1, 0.5, (runs, joints))
    data = mujoco.MjData(model)
    start = time.process_time()
    rollout.rollout(model, data, starts, nstep=round(stop / 0.01))
    return (time.process_time() - start) / runs
