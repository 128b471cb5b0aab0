"""Times a sweep of the four-bar's FMU on two processes beside a bare loop over the FMU in one process.

    python benchmarks/sweep.py [runs]      10 000 runs by default, some minutes

One worker is killed in the middle of the sweep. Printed are the throughput of a process of the sweep over that of the
loop, by the clock, which asks for a processor for each, and by processor time, with that of client and scheduler; the
memory of client and workers along the way; and how many rows differ from runs of the loop. The loop is as short as it
can be: it resets one instance, and reads in each interval what the sweep keeps.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

import fmumbs as fm
from fmumbs.play.fmu import Fmu
from fmumbs.readers import read_model

STOP, INTERVAL, WORKERS = 5.0, 0.01, 2  # as the model's own experiment
KEEP = ["max:A.reaction.f[1]", "absmax:D.qd"]
RANGES = {"A.qd": (4.0, 8.0), "A.tau": (0.0, 0.05), "coupler.mass": (0.4, 1.2)}


def bare_loop(path: Path, rows: list[dict[str, float]]) -> tuple[float, float, list[list[float]]]:
    """Seconds and processor seconds for each run, and the end values of all outputs with the two summaries."""
    found = []
    with Fmu(path) as fmu, fmu.instance() as one:
        outputs = [v.valueReference for v in fmu.description.modelVariables if v.causality == "output"]
        real = [i for i in outputs if i in fmu.names]
        kept = [fmu.reference(label.partition(":")[2]) for label in KEEP]
        references = [fmu.reference(name) for name in RANGES]
        begin, used = time.perf_counter(), time.process_time()
        for row in rows:
            one.slave.reset()
            one.slave.setupExperiment(startTime=0.0, tolerance=fmu.tolerance, stopTime=STOP)
            one.slave.setReal(references, list(row.values()))
            one.slave.enterInitializationMode()
            one.slave.exitInitializationMode()
            series = [one.slave.getReal(kept)]
            t = 0.0
            for k in range(1, round(STOP / INTERVAL) + 1):
                t_next = STOP if k == round(STOP / INTERVAL) else k * INTERVAL
                one.slave.doStep(t, t_next - t)
                series.append(one.slave.getReal(kept))
                t = t_next
            values = np.array(series)
            found.append([*one.slave.getReal(real), values[:, 0].max(), abs(values[:, 1]).max()])
        seconds, used = time.perf_counter() - begin, time.process_time() - used
    return seconds / len(rows), used / len(rows), found


def loop_in_a_process(path: Path, rows: list[dict[str, float]]) -> tuple[float, float, list[list[float]]]:
    """The loop in a fresh process, as the workers are."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(bare_loop, (path, rows))


class Watch:
    """Kills a worker in the middle; notes time, processor time and memory [MB] of client and workers until then."""

    def __init__(self) -> None:
        self.killed, self.tenths = 0, 0
        self.notes: list[tuple[float, float, float]] = []  # part, seconds, processor seconds

    def __call__(self, part: float) -> None:
        client = psutil.Process()
        processes = [client, *(child for child in client.children() if "spawn_main" in " ".join(child.cmdline()))]
        if not self.killed:
            used = sum(sum(process.cpu_times()[:2]) for process in processes)
            self.notes.append((part, time.perf_counter(), used))
        if part >= 0.1 * (self.tenths + 1):
            self.tenths += 1
            client, *workers = (process.memory_info().rss / 2**20 for process in processes)
            print(
                f"{part:4.0%}  client {client:.0f} MB, workers {', '.join(f'{m:.0f}' for m in workers)} MB", flush=True
            )
        if part > 0.5 and not self.killed:
            self.killed = processes[1].pid
            os.kill(self.killed, signal.SIGKILL)
            print(f"killed worker {self.killed} at {part:.0%}", flush=True)

    def until_the_kill(self, runs: int) -> tuple[float, float]:
        """Seconds and processor seconds for each run, from a twentieth of the sweep to the kill."""
        notes = [note for note in self.notes if note[0] >= 0.05]
        done = (notes[-1][0] - notes[0][0]) * runs
        return (notes[-1][1] - notes[0][1]) / done, (notes[-1][2] - notes[0][2]) / done


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = fm.export_fmu(read_model("four_bar"), Path(folder) / "four_bar.fmu")
        watch = Watch()
        begin = time.perf_counter()
        done = fm.sweep(
            path, Path(folder) / "a.parquet", ranges=RANGES, samples=runs, keep=KEEP, stop=STOP, interval=INTERVAL,
            workers=WORKERS, progress=watch,
        )  # fmt: skip
        whole = time.perf_counter() - begin
        print(f"{done.runs} runs in {whole:.1f} s, {len(done.failed)} failed")
        columns = [name for name in done if name.startswith("end:")] + KEEP
        table = np.column_stack([done[name] for name in [*RANGES, *columns]])
        rows = [dict(zip(RANGES, row, strict=True)) for row in table[:, : len(RANGES)].tolist()]
        compare(path, rows, table[:, len(RANGES) :], watch, whole / done.runs * WORKERS)


def compare(path: Path, rows: list[dict[str, float]], table: np.ndarray, watch: Watch, each: float) -> None:
    """Prints the ratios and the rows that differ. each: seconds of a process for each run, with start and restart."""
    seconds, used, found = loop_in_a_process(path, rows)
    width = len(found[0]) - 2  # the loop reads real outputs only, which come first
    ours = np.column_stack([table[:, :width], table[:, -2:]])
    wrong = np.flatnonzero(~np.all(ours == np.array(found), axis=1))
    print(f"{len(wrong)} of {len(rows)} rows differ from the loop")
    clock, processor = watch.until_the_kill(len(rows))
    print(f"the loop takes {1e3 * seconds:.3f} ms a run, {1e3 * used:.3f} ms of a processor")
    print(f"throughput of a process over that of the loop: {seconds / (clock * WORKERS):.2f} until the kill, ", end="")
    print(f"{seconds / each:.2f} in all; by processor time {used / processor:.2f} until the kill")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
