#!/usr/bin/env python3
#===- run.py - hostile files must end in a diagnosis ----------------------===#
"""Feed hostile models and tensors to ampc and to a compiled program.

  test/hostile/run.py                     all cases
  test/hostile/run.py --filter='conv-*'   some
  test/hostile/run.py --keep              leave the files in build/hostile
  test/hostile/run.py --sanitized         AMPC is built with AddressSanitizer, which
                                          reports first and takes time and memory

Each case has to end by itself with exit code 3 (invalid), 4 (unsupported) or 6
(limit), within 2 seconds of processor time and 512 MiB, naming the node, tensor
or file at fault, without control characters from the file on the terminal and
without leaving an output. Valid controls beside them have to succeed, so that a
compiler that refuses everything does not pass. The last line is
`N passed, N failed`.
"""

import argparse
import concurrent.futures
import dataclasses
import fnmatch
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts")]
from ampctest import env

env.enter()

import case
import protobuf_cases
import external_cases
import shape_cases  # noqa: F401 - registers its cases
import graph_cases  # noqa: F401 - registers its cases
import data_cases
from ampctest.report import Tally

FOLDER = env.BUILD / "hostile"
WALL_SECONDS = 60


@dataclasses.dataclass
class Limits:
    """What a case may take."""

    cpu: float = 2.0  # seconds
    peak: int = 512 * 1024  # KiB
    address_space: int = 16 << 30  # bytes


# The shadow memory of AddressSanitizer spans terabytes of addresses.
SANITIZED = Limits(cpu=30.0, peak=4 << 20, address_space=resource.RLIM_INFINITY)


@dataclasses.dataclass
class Outcome:
    """How a command ended."""

    code: int
    cpu: float  # seconds
    peak: int  # KiB
    text: str  # what it wrote to both streams


def execute(command: list[str], limits: Limits) -> Outcome:
    """Run a command with limits that keep a bomb from harming the machine."""
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        resource.setrlimit(resource.RLIMIT_AS, (limits.address_space, limits.address_space))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=output, preexec_fn=limit, cwd="/",
                                   start_new_session=True)
        watchdog = threading.Timer(WALL_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
        watchdog.start()
        _, status, usage = os.wait4(process.pid, 0)
        watchdog.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read(1 << 20).decode(errors="replace")
    return Outcome(process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, text)


def names_one_of(names: tuple[str, ...], text: str) -> bool:
    """Whether a name stands in the text by itself, not inside another word."""
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)


def problems(one: case.Case, outcome: Outcome, leftovers: list[str],
             limits: Limits) -> list[str]:
    """What is wrong with the end of a hostile case."""
    found = []
    first = (outcome.text.strip() or "no message").splitlines()[0][:200]
    if outcome.code not in one.codes:
        expected = ", ".join(map(str, sorted(one.codes)))
        found.append(f"expected exit code {expected}, got {outcome.code}: {first}")
    elif not names_one_of(one.names, outcome.text.replace(str(FOLDER / one.name), "")):
        found.append(f"expected a message naming {' or '.join(one.names)}, got: {first}")
    if outcome.cpu > limits.cpu:
        found.append(f"took {outcome.cpu:.1f} s")
    if outcome.peak > limits.peak:
        found.append(f"took {outcome.peak // 1024} MiB")
    if "\x1b" in outcome.text or "\r" in outcome.text:
        found.append("wrote control characters")
    if "Stack dump" in outcome.text or "Sanitizer" in outcome.text \
            or "runtime error:" in outcome.text:
        found.append("crashed")
    if leftovers:
        found.append(f"left {', '.join(leftovers)}")
    return found


def run_case(one: case.Case, program: pathlib.Path, limits: Limits) -> tuple[bool, str]:
    folder = FOLDER / one.name
    folder.mkdir()
    arguments = one.make(folder)
    before = {path for path in folder.rglob("*")}
    outcome = execute([str(program if one.on_program else env.ampc_path()), *arguments], limits)
    leftovers = sorted(path.name for path in folder.rglob("*") if path not in before)
    found = problems(one, outcome, leftovers, limits)
    if found:
        return False, f"FAIL {one.name}: {'; '.join(found)}"
    return True, f"ok   {one.name}: exit {outcome.code}: {outcome.text.strip().splitlines()[0][:160]}"


def controls(tally: Tally, limits: Limits) -> pathlib.Path:
    """Compile and run what is valid; the path of the program made."""
    folder = FOLDER / "control"
    (folder / "external").mkdir(parents=True)
    arguments = case.save(folder, protobuf_cases.good())
    program = folder / "program"
    data = folder / "x.npy"
    data.write_bytes(data_cases._good_npy())
    (folder / "external" / "w.bin").write_bytes(bytes(256))
    inside = external_cases.external("w", location="w.bin", offset=64, length=128)
    external = case.save(folder / "external", external_cases.with_weight(inside))
    for name, command in {
            "valid model": [str(env.ampc_path()), *arguments],
            "valid external data": [str(env.ampc_path()), *external],
            "valid input": [str(program), "run", f"--input=x=@{data}", f"--output-dir={folder}"],
    }.items():
        try:
            outcome = execute(command, limits)
        except OSError as error:
            outcome = Outcome(5, 0, 0, str(error))
        tally.add(outcome.code == 0)
        if outcome.code != 0:
            print(f"FAIL control: {name}: expected success, got exit code {outcome.code}: "
                  f"{outcome.text.strip()[:300]}")
    return program


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", action="append", default=[], metavar="GLOB")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    chosen = [one for one in case.CASES
              if not args.filter or any(fnmatch.fnmatchcase(one.name, p) for p in args.filter)]
    if not chosen:
        parser.error("no case matches")
    names = [one.name for one in case.CASES]
    assert len(names) == len(set(names)), "two cases share a name"
    env.require_ampc()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    start = time.monotonic()
    tally = Tally()
    limits = SANITIZED if args.sanitized else Limits()
    program = controls(tally, limits)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for passed, line in pool.map(lambda one: run_case(one, program, limits), chosen):
            tally.add(passed)
            if not passed or args.verbose:
                print(line, flush=True)
    if not args.keep:
        shutil.rmtree(FOLDER, ignore_errors=True)
    print(f"{len(chosen)} hostile cases in {time.monotonic() - start:.1f} s")
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
