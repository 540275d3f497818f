#===- toy.py - the hand-made trainer, and how to run it -------------------===#
"""Builds test/runtime/toy_trainer.c against the runtime's archives, as users link
programs, and runs it in folders of its own."""

import dataclasses
import json
import os
import pathlib
import struct
import subprocess

import numpy as np

from ampctest import env

ROOT = env.ROOT
BATCH, FEATURES, CLASSES = 4, 3, 3
# AMPC_LIB is a folder of archives made with AMPC_SANITIZE's sanitizers.
SANITIZE = [f"-fsanitize={os.environ['AMPC_SANITIZE']}"] if "AMPC_SANITIZE" in os.environ else []
CC = "clang-22" if SANITIZE else "cc"
# What tells one run's log from another's that did the same.
TIMES = ("ms", "data_ms", "seconds")


@dataclasses.dataclass
class Result:
    code: int
    out: str
    err: str


class Toy:
    """One variant of the trainer, built into `folder`."""

    def __init__(self, folder: pathlib.Path, name: str, *flags: str):
        self.path = folder / name
        lib = pathlib.Path(os.environ.get("AMPC_LIB", env.BUILD / "lib"))
        subprocess.run(
            [CC, "-O1", "-w", f"-I{ROOT / 'runtime' / 'include'}", *flags, *SANITIZE,
             str(ROOT / "test" / "runtime" / "toy_trainer.c"), str(lib / "libampc_main.a"),
             str(lib / "libampc_runtime.a"), "-lm", "-lpthread", "-ldl", "-o", str(self.path)], check=True)

    def run(self, *words, cwd=None, environment=None, timeout=60) -> Result:
        done = subprocess.run([str(self.path), *map(str, words)], cwd=cwd, timeout=timeout, text=True, errors="replace",
                              env=os.environ | (environment or {}), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return Result(done.returncode, done.stdout, done.stderr)

    def start(self, *words, cwd=None) -> subprocess.Popen:
        return subprocess.Popen([str(self.path), *map(str, words)], cwd=cwd, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")


def samples(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three overlapping classes."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((rows, FEATURES)).astype(np.float32)
    mix = np.array([[2, -1, 0], [0, 1.5, -1], [-1, 0, 1]])
    return x, (x @ mix + 0.5 * random.standard_normal((rows, CLASSES))).argmax(1).astype(np.int32)


def read_log(path: pathlib.Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def events(path: pathlib.Path, event: str = "step") -> list[dict]:
    """The lines of one kind, without times."""
    return [{key: value for key, value in line.items() if key not in TIMES}
            for line in read_log(path) if line["event"] == event]


def read_checkpoint(path: pathlib.Path) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """(metadata, tensors), by a reader of its own."""
    data = path.read_bytes()
    length, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    kinds = {"I64": np.int64, "F32": np.float32, "I32": np.int32, "U32": np.uint32}
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], kinds[entry["dtype"]]).reshape(entry["shape"])
    return metadata, tensors


def checkpoints(folder: pathlib.Path) -> list[str]:
    return sorted(path.name for path in folder.glob("step-*"))
