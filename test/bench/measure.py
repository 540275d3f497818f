#===- measure.py - compiling, and timing side by side ---------------------===#
"""Compiles programs with their costs, and times them against a peer in turns."""

import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from onnx import numpy_helper
import onnx

from ampctest import env
from inputs import random_inputs

FOLDER = env.BUILD / "bench"
# Some machines force old kernels on OpenBLAS; a comparison takes what it picks.
_PEER_ENV = {key: value for key, value in os.environ.items()
             if key not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS",
                            "OMP_NUM_THREADS")}


@dataclasses.dataclass
class Compiled:
    """A program and what making it took."""

    program: pathlib.Path
    seconds: float
    peak_mb: float  # of the compiler or the linker, whichever took more
    size_mb: float
    weights_mb: float  # bytes of the model's initializers
    model_mb: float
    inputs: list[str]  # --input options with seeded data


_compiled: dict[pathlib.Path, Compiled] = {}


_compiled_cuda: dict[pathlib.Path, tuple[float, float]] = {}


def compile_cuda(model: pathlib.Path) -> tuple[float, float]:
    """Seconds to compile for two GPUs without a cache, and from one; once per run
    of the benchmark."""
    if model not in _compiled_cuda:
        FOLDER.mkdir(parents=True, exist_ok=True)
        times = []
        with tempfile.TemporaryDirectory() as cache:
            for _ in range(2):
                start = time.monotonic()
                subprocess.run([str(env.ampc_path()), str(model), "-o",
                                str(FOLDER / f"{model.stem}.cuda"), "--cuda-arch=sm_80,sm_90a",
                                "--external-weights=embed", f"--cache-dir={cache}", "--quiet"],
                               check=True, stdin=subprocess.DEVNULL)
                times.append(time.monotonic() - start)
        _compiled_cuda[model] = (times[0], times[1])
    return _compiled_cuda[model]


def compile_model(model: pathlib.Path) -> Compiled:
    """Compile for this machine's CPU, once per run of the benchmark."""
    if model in _compiled:
        return _compiled[model]
    FOLDER.mkdir(parents=True, exist_ok=True)
    program = FOLDER / model.stem
    command = [str(env.ampc_path()), str(model), "-o", str(program), "--target=cpu", "--amp=off",
               "--external-weights=embed", "--quiet"]
    start = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=output,
                                   stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode != 0:
        raise RuntimeError(f"{model.name}: exit {process.returncode}: {text.strip()[:300]}")
    inputs = []
    for index, (name, value) in enumerate(random_inputs(model).items()):
        file = FOLDER / f"{model.stem}-input-{index}.npy"
        np.save(file, value)
        inputs.append(f"--input={name}=@{file}")
    weights = sum(numpy_helper.to_array(weight).nbytes
                  for weight in onnx.load(model).graph.initializer)
    _compiled[model] = Compiled(program, seconds, usage.ru_maxrss / 1024,
                                program.stat().st_size / 1e6, weights / 1e6,
                                model.stat().st_size / 1e6, inputs)
    return _compiled[model]


class Peer:
    """A running peer.py."""

    def __init__(self, kind: str, what: str, threads: int):
        self._process = subprocess.Popen(
            [sys.executable, str(pathlib.Path(__file__).with_name("peer.py")), kind, what,
             str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_PEER_ENV)
        self.name = self._process.stdout.readline().strip()
        if not self.name:
            raise RuntimeError(f"the peer {kind} {what} did not start")

    def times(self, count: int, seconds: float) -> list[float]:
        self._process.stdin.write(f"{count} {seconds}\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def our_times(compiled: Compiled, threads: int, count: int, seconds: float) -> list[float]:
    """Milliseconds of each run in one short `PROGRAM bench`."""
    times = FOLDER / f"{compiled.program.name}-times.json"
    command = [str(compiled.program), "bench", f"--threads={threads}", f"--iterations={count}",
               "--warm-up=20", f"--duration={seconds}", f"--export-times={times}", "--quiet",
               *compiled.inputs]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{compiled.program.name} bench: exit {done.returncode}: "
                           f"{done.stderr.strip()[:300]}")
    return json.loads(times.read_text())["times_ms"]


@dataclasses.dataclass
class Comparison:
    """Medians over the rounds; `ratio` is ours / peer's."""

    ours: float  # milliseconds
    peer: float  # milliseconds
    ratio: float
    peer_name: str


def compare(compiled: Compiled, kind: str, what: str, threads: int, rounds: int,
            seconds: float) -> Comparison:
    """Time both in turns, each round with the other one first.

    Each side of a round counts by its least disturbed run. The median of the
    rounds' ratios forgives a machine that others use too: what slows one round
    slows both sides of it.
    """
    peer = Peer(kind, what, threads)
    try:
        peer.times(1, seconds / 2)
        rows = []
        for number in range(rounds):
            pair = {}
            for side in ("ours", "peer") if number % 2 else ("peer", "ours"):
                if side == "ours":
                    pair[side] = min(our_times(compiled, threads, 3, seconds))
                else:
                    pair[side] = min(peer.times(3, seconds))
                # Let the threads of the one that ran fall asleep.
                time.sleep(0.1)
            rows.append(pair)
    finally:
        peer.close()
    return Comparison(statistics.median(row["ours"] for row in rows),
                      statistics.median(row["peer"] for row in rows),
                      statistics.median(row["ours"] / row["peer"] for row in rows), peer.name)


def compare_peers(ours: str, peer: str, what: str, threads: int, rounds: int, seconds: float) -> Comparison:
    """The same for two kinds of peer.py, on the model `what`."""
    sides = {"ours": Peer(ours, what, threads), "peer": Peer(peer, what, threads)}
    try:
        rows = []
        for number in range(rounds):
            order = ("ours", "peer") if number % 2 else ("peer", "ours")
            rows.append({side: min(sides[side].times(2, seconds)) for side in order})
    finally:
        for side in sides.values():
            side.close()
    return Comparison(statistics.median(row["ours"] for row in rows),
                      statistics.median(row["peer"] for row in rows),
                      statistics.median(row["ours"] / row["peer"] for row in rows), sides["peer"].name)


def start_time(compiled: Compiled, runs: int = 21) -> float:
    """Milliseconds from exec to exit of one `PROGRAM run`, median."""
    command = [str(compiled.program), "run", "--threads=1", "--quiet", *compiled.inputs,
               f"--output-dir={FOLDER}"]
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True)
        times.append(1e3 * (time.perf_counter() - start))
        if done.returncode != 0:
            raise RuntimeError(f"{compiled.program.name} run: exit {done.returncode}")
    return statistics.median(times)
