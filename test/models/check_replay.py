#!/usr/bin/env python3
#===- check_replay.py - products of simulated programs, computed again ----===#
"""Compute the contractions of simulated programs again, bit for bit.

  test/models/check_replay.py              the tier that tools/check runs
  test/models/check_replay.py --full       all models, targets and precisions
  test/models/check_replay.py mlp          one model, all its rows

A program runs with AMPC_SIM_RECORD, which writes the operands of each launch
and each instruction of a matrix unit (runtime/devices/sim/recording.h). Of each
contraction the two matrices are taken from the operands alone, as its op in the
program's MLIR says, and every instruction must multiply a piece of them: its
columns name the place along k, its rows the place along m, what it starts from
must be the sum up to there, and what it returns the sum behind it. The sums are
those of mma_rule.py, another implementation of the units' rule, over the pieces
in ascending order; they must agree in every bit, and every element of the
result must be reached. First the rule itself is compared with
test/data/mma_vectors.tsv. The last line is `N passed, N failed`.
"""

import argparse
import collections
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "scripts"))
from ampctest import env

env.enter()

import numpy as np

import inputs
import mma_rule
import replayed
import small
import transformers
from ampctest.report import Tally
from replayed import Contraction, to_bits

MODELS = {
    "mlp": functools.partial(small.mlp, batch=20, sizes=(100, 72, 10)),
    "conv": functools.partial(small.conv_bn, batch=1, size=12, width=24),
    # So deep that its sums are split among blocks.
    "deep": functools.partial(small.matmul, m=16, n=24, k=2048, constant_b=True),
    # With edges, and tiles by which Hopper uses its own instruction (TUNING).
    "wide": functools.partial(small.mlp, batch=80, sizes=(40, 200, 72)),
    "bert-layer": functools.partial(transformers.bert, layers=1, hidden=128, heads=4, length=16,
                                    vocabulary=1000, positions=64),
}
TARGETS = {"sm_75": ("fp16",), "sm_80": ("fp16", "bf16", "tf32"),
           "sm_90a": ("fp16", "bf16", "tf32")}
# Rules of a tuning file, where the sizes alone choose another kernel.
TUNING = {"wide": [{"type": kind, "arch": "sm_90a", "tile": [64, 64, 64]} for kind in ("f16", "bf16")]}
QUICK = {"mlp-sm_75-fp16", "wide-sm_90a-fp16", "conv-sm_80-fp16", "bert-layer-sm_90a-bf16", "mlp-sm_90a-fp16"}

TYPES = ("f16", "bf16", "tf32", "f32")  # MatrixType in the simulator
LAUNCH = re.compile(r'rt\.launch @"?([^"\s(]+)"?')


#===------------------------------------------------------------------------===#
# Instructions
#===------------------------------------------------------------------------===#

def instructions(data: bytes):
    """(A, B, C, D) of each product in a file."""
    at = 0
    while at < len(data):
        rows, columns, k, kind, out, _ = np.frombuffer(data, np.uint32, 6, at).tolist()
        at += 24
        pieces = []
        for shape, dtype in (((rows, k), None), ((k, columns), None),
                             ((rows, columns), np.uint32), ((rows, columns), np.uint32)):
            dtype = dtype or (np.uint32 if TYPES[kind] == "tf32" else np.uint16)
            count = shape[0] * shape[1]
            pieces.append(np.frombuffer(data, dtype, count, at).astype(np.uint32).reshape(shape))
            at += count * np.dtype(dtype).itemsize
        assert TYPES[out] == "f32"
        yield TYPES[kind], *pieces


class Replay:
    """The sums of a contraction after each piece of k, and where its pieces are."""

    def __init__(self, contraction: Contraction, arch: int, kind: str, k: int):
        self.kind, self.generation = kind, mma_rule.GENERATIONS[arch]
        batches, m, depth = contraction.a.shape
        self.m, self.n, self.k = m, contraction.b.shape[2], k
        self.pieces = -(-depth // k)
        fill = self.pieces * k - depth
        self.a = np.pad(contraction.a, ((0, 0), (0, 0), (0, fill)))
        self.b = np.pad(contraction.b, ((0, 0), (0, fill), (0, 0)))
        # Places by content: [(batch, piece, column)], {(batch, piece, row bytes): rows}.
        self.columns, self.rows = collections.defaultdict(list), collections.defaultdict(list)
        for batch in range(batches):
            for piece in range(self.pieces):
                part = slice(piece * k, piece * k + k)
                for j in range(self.n):
                    self.columns[self.b[batch, part, j].tobytes()].append((batch, piece, j))
                for i in range(m):
                    self.rows[batch, piece, self.a[batch, i, part].tobytes()].append(i)
        self.starts = {0}  # pieces before which a sum begins: several, where k is split
        self._sums = {}
        # [piece][batch, row, column]
        self.reached = np.zeros((self.pieces, batches, m, self.n), bool)

    def unfinished(self) -> int:
        """Elements of which no instruction multiplied the last piece of a part."""
        ends = {start - 1 for start in self.starts if start} | {self.pieces - 1}
        return sum(int(np.sum(~self.reached[end])) for end in ends)

    def sums(self, batch: int, start: int, piece: int) -> np.ndarray:
        """After `piece`, beginning with zero before `start`."""
        if piece < start:
            return np.zeros((self.m, self.n), np.int64)
        key = batch, start, piece
        if key not in self._sums:
            part = slice(piece * self.k, piece * self.k + self.k)
            self._sums[key] = mma_rule.product(
                self.generation, self.sums(batch, start, piece - 1), self.a[batch, :, part],
                self.b[batch, part, :], self.kind)
        return self._sums[key]

    def explain(self, a, b, c, d) -> bool:
        """Whether an instruction multiplies a piece of the matrices, and right."""
        zero = b.any(axis=0) == 0
        if zero.all() or not a.any():
            return np.array_equal(c, d)  # behind an edge
        votes = collections.Counter()
        found = [self.columns.get(b[:, j].tobytes(), []) for j in range(b.shape[1])]
        for places in found:
            votes.update({(batch, piece) for batch, piece, _ in places})
        for (batch, piece), _ in votes.most_common():
            if self._explain_at(batch, piece, found, zero, a, c, d):
                return True
        return False

    def _is_plain(self, batch, piece, found, a, c, d) -> bool:
        """The usual case: the first row and column of each content, from the beginning."""
        columns = [next((q for p, s, q in places if (p, s) == (batch, piece)), None)
                   for places in found]
        rows = [self.rows.get((batch, piece, row.tobytes()), [None])[0] for row in a]
        if None in columns or None in rows:
            return False
        at = np.ix_(rows, columns)
        start = max(start for start in self.starts if start <= piece)
        if not (np.array_equal(self.sums(batch, start, piece - 1)[at], c)
                and np.array_equal(self.sums(batch, start, piece)[at], d)):
            return False
        self.reached[piece, batch][at] = True
        return True

    def _explain_at(self, batch, piece, found, zero, a, c, d) -> bool:
        if not c.any() and piece and a.any(axis=1).all() and not zero.any():
            self.starts.add(piece)
        if self._is_plain(batch, piece, found, a, c, d):
            return True
        marks = []
        for j, places in enumerate(found):
            options = [q for p, s, q in places if (p, s) == (batch, piece)]
            if not options and not zero[j]:
                return False
            for i in range(a.shape[0]):
                rows = self.rows.get((batch, piece, a[i].tobytes()), [])
                if not rows and a[i].any():
                    return False
                if not options or not rows:
                    if c[i, j] != d[i, j]:
                        return False
                    continue
                fits = [(p, q) for start in self.starts if start <= piece
                        for p in rows for q in options
                        if self.sums(batch, start, piece - 1)[p, q] == c[i, j]
                        and self.sums(batch, start, piece)[p, q] == d[i, j]]
                # A row behind the edge is zero, as a piece of a row may be.
                if not fits and (a[i].any() or c[i, j] != d[i, j]):
                    return False
                marks += fits
        for p, q in marks:
            self.reached[piece, batch, p, q] = True
        return True


def replay(contraction: Contraction, arch: int, data: bytes) -> tuple[int, list[str]]:
    """(instructions, problems) of a launch."""
    state, count, wrong = None, 0, 0
    for kind, a, b, c, d in instructions(data):
        expected = "tf32" if contraction.kind == "f32" else contraction.kind
        if kind != expected:
            return count, [f"expected products of {expected}, got {kind}"]
        state = state or Replay(contraction, arch, kind, a.shape[1])
        count += 1
        wrong += not state.explain(a, b, c, d)
    problems = [f"{wrong} of {count} instructions do not fit"] if wrong else []
    if state and not wrong and (missing := state.unfinished()):
        problems.append(f"{missing} elements are never finished")
    return count, problems


#===------------------------------------------------------------------------===#
# Programs
#===------------------------------------------------------------------------===#

def execute(command: list, **environment: str) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", timeout=600, env=os.environ | environment)
    if done.returncode != 0:
        said = (done.stderr.strip() or "no message").splitlines()
        raise RuntimeError(f"exit {done.returncode}: {said[0]}")


def check(name: str, arch: str, amp: str) -> tuple[list[str], str]:
    """(problems, figures) of a model on a target."""
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        model, text, record = folder / "model.onnx", folder / "memory.mlir", folder / "record"
        model.write_bytes(MODELS[name](name).SerializeToString(deterministic=True))
        words = []
        for number, (key, value) in enumerate(inputs.random_inputs(model).items()):
            np.save(folder / f"{number}.npy", value)
            words.append(f"--input={key}=@{folder / f'{number}.npy'}")
        command = [env.ampc_path(), model, "--quiet", "--simulate", f"--cuda-arch={arch}",
                   f"--amp={amp}"]
        if name in TUNING:
            tuning = folder / "tuning.json"
            tuning.write_text(json.dumps({"version": 1, "contractions": TUNING[name]}))
            command.append(f"--tuning-file={tuning}")
        execute([*command, "-o", folder / "program"])
        execute([*command, "--emit=mlir", "--compile-to=memory", "-o", text])
        execute([folder / "program", "run", *words], AMPC_SIM_RECORD=str(record))
        program = text.read_text()
        kernels = replayed.bodies(program)
        launches = [json.loads(line) for line in (record / "launches.jsonl").read_text().splitlines()]
        order = LAUNCH.findall(program)
        if len(order) != len(launches):
            return [f"expected {len(order)} launches, recorded {len(launches)}"], ""
        return judge(record, launches, [kernels[kernel] for kernel in order])


def judge(record: pathlib.Path, launches: list[dict], bodies: list[replayed.Body]) -> tuple[list[str], str]:
    problems, contractions, total, plain = [], 0, 0, 0
    shapes = set()
    for launch, body in zip(launches, bodies):
        number = launch["launch"]
        data = (record / f"{number}.products").read_bytes()
        if not body.root:
            continue
        if not data:
            plain += 1  # computed without matrix units
            continue
        buffers = [None if size is None else (record / f"{number}-{i}.before").read_bytes()
                   for i, size in enumerate(launch["buffers"])]
        count, wrong = replay(body.contraction(buffers), launch["arch"], data)
        problems += [f"{launch['label']}: {problem}" for problem in wrong]
        shapes.add("m{}n{}k{}".format(*np.frombuffer(data, np.uint32, 3)))
        contractions, total = contractions + 1, total + count
    if not contractions:
        problems.append("no contraction used the matrix units")
    figures = (f"{contractions} contractions, {total} instructions equal in every bit "
               f"({', '.join(sorted(shapes))})")
    return problems, figures + (f", {plain} contractions without matrix units" if plain else "")


def check_canary() -> list[str]:
    """A product in another order of k, or by another generation, is told."""
    rng = np.random.default_rng(1)
    a, b = (to_bits(rng.standard_normal(shape), "f16") for shape in ((16, 32), (32, 8)))
    contraction = Contraction("f16", a[None], b[None])

    def instructions_of(generation: str, order) -> bytes:
        data, c = b"", np.zeros((16, 8), np.int64)
        for k in order:
            left, right = a[:, k:k + 16], b[k:k + 16]
            d = mma_rule.product(generation, c, left, right, "f16")
            data += np.array([16, 8, 16, 0, 3, 0], np.uint32).tobytes()
            data += b"".join(part.astype(np.uint16).tobytes() for part in (left, right))
            data += b"".join(part.astype(np.uint32).tobytes() for part in (c, d))
            c = d
        return data

    problems = []
    if replay(contraction, 80, instructions_of("ampere", (0, 16)))[1]:
        problems.append("the right product is told wrong")
    for what, generation, order in (("another generation", "hopper", (0, 16)),
                                    ("another order", "ampere", (16, 0)),
                                    ("a missing piece", "ampere", (0,))):
        if not replay(contraction, 80, instructions_of(generation, order))[1]:
            problems.append(f"{what} is not noticed")
    return problems


def check_rule() -> list[str]:
    """The rule against the vectors of another program."""
    groups = collections.defaultdict(list)
    path = env.ROOT / "test" / "data" / "mma_vectors.tsv"
    for line in path.read_text().splitlines()[1:]:
        arch, kind, out, *bits = line.split("\t")
        groups[arch, kind, out].append([[int(x, 16) for x in field.split(",")] for field in bits])
    problems = []
    for (arch, kind, out), rows in sorted(groups.items()):
        c, a, b, d = (np.array([row[i] for row in rows], np.int64) for i in range(4))
        got = mma_rule.instruction(arch, c[:, 0], a, b, kind, out)
        if differing := int(np.sum(got != d[:, 0])):
            problems.append(f"{arch} {kind} to {out}: {differing} of {len(rows)} vectors differ")
    return problems if groups else ["no vectors"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="MODEL")
    parser.add_argument("--full", action="store_true")
    args = parser.parse_args()
    if unknown := [name for name in args.names if name not in MODELS]:
        parser.error(f"unknown model {unknown[0]}; there are {', '.join(MODELS)}")
    env.require_ampc()
    tally = Tally()

    def tell(name: str, problems: list[str], figures: str) -> None:
        tally.add(not problems)
        print(f"{'FAIL' if problems else 'ok  '} {name}: {'; '.join(problems) or figures}", flush=True)

    tell("rule", check_rule(), "all vectors")
    tell("canary", check_canary(), "wrong products are noticed")
    for name in args.names or MODELS:
        for arch, amps in TARGETS.items():
            for amp in amps:
                row = f"{name}-{arch}-{amp}"
                if not (args.full or args.names or row in QUICK):
                    continue
                try:
                    tell(row, *check(name, arch, amp))
                except (AssertionError, RuntimeError, OSError) as error:
                    tell(row, [str(error)], "")
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
