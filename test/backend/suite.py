#===- suite.py - run a list of tests in one ampc process ------------------===#
"""Runs `ampc verify --suite=LISTFILE`, whose contract stands in tools/onnx-backend."""

import pathlib
import subprocess
import sys
import tempfile

from ampctest import env

STATUSES = ("pass", "mismatch", "unsupported", "invalid", "error", "crash", "timeout")


class Result:
    """What ampc said about one test."""

    def __init__(self, status: str, code: int, message: str):
        self.status, self.code, self.message = status, code, message


def line(name: str, model: str, data: str, rtol: float, atol: float, options: list[str]) -> str:
    """One line of the list file."""
    for field in (name, model, data, *options):
        assert "\t" not in field and "\n" not in field, field
    assert not any(" " in option for option in options), options
    return "\t".join([name, model, data, f"{rtol:g}", f"{atol:g}", " ".join(options)])


def run(lines: list[str], list_file: pathlib.Path, jobs: int, timeout: int) -> dict[str, Result]:
    """Name -> result of every test listed.

    A test that ampc reports nothing about counts as a crash, a line that breaks
    the contract ends the run.
    """
    list_file.write_text("".join(text + "\n" for text in lines))
    names = [text.split("\t", 1)[0] for text in lines]
    results: dict[str, Result] = {}
    command = [str(env.ampc_path()), "verify", f"--suite={list_file}", "-j", str(jobs),
               f"--suite-timeout={timeout}"]
    show = sys.stderr.isatty()
    with tempfile.TemporaryFile("w+", errors="replace") as stderr, subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=stderr, text=True,
            errors="replace") as process:
        for text in process.stdout:
            fields = text.rstrip("\n").split("\t")
            if len(fields) != 4 or fields[1] not in STATUSES:
                process.kill()
                raise RuntimeError(f"expected NAME<TAB>STATUS<TAB>CODE<TAB>MESSAGE, got {text!r}")
            results[fields[0]] = Result(fields[1], int(fields[2]), fields[3])
            if show:
                print(f"\r{len(results)}/{len(names)} ", end="", file=sys.stderr, flush=True)
        code = process.wait()
        stderr.seek(0)
        errors = stderr.read()[-2000:]
    if show:
        print("\r", end="", file=sys.stderr)
    if not results:
        raise RuntimeError(f"ampc verify --suite exited {code}: {errors.strip() or 'no output'}")
    for name in names:
        if name not in results:
            results[name] = Result("crash", code, f"not reported; the suite exited {code}")
    return results
