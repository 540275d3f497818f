#===- env.py - folders, and the virtual environment to run in -------------===#
"""Where things are, and `enter`, which moves a script into build/venv."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
VENV_PYTHON = BUILD / "venv" / "bin" / "python"


def ampc_path() -> pathlib.Path:
    """The compiler under test: $AMPC or build/bin/ampc."""
    return pathlib.Path(os.environ.get("AMPC", BUILD / "bin" / "ampc"))


def enter(what: str = "venv") -> None:
    """Continue this script inside build/venv, making that first if needed.

    `what` is "venv", or "venv-training" for JAX and what comes with it.
    Returns only when already inside. Ends the process with exit code 5 when
    the environment cannot be made, after bootstrap.sh has said why.
    """
    made = subprocess.run(
        ["bash", str(ROOT / "tools" / "scripts" / "bootstrap.sh"), what]
    )
    if made.returncode != 0:
        sys.exit(5)
    if pathlib.Path(sys.prefix).resolve() != VENV_PYTHON.parents[1].resolve():
        sys.stdout.flush()
        os.execv(VENV_PYTHON, [str(VENV_PYTHON), *sys.argv])


def require_ampc() -> pathlib.Path:
    """The compiler's path, or the end of the process when it is not built.

    A test run without its subject has failed; it prints the closing line that
    says so.
    """
    path = ampc_path()
    if not os.access(path, os.X_OK):
        print(f"error: {path}: not built; run tools/scripts/bootstrap.sh build")
        print("0 passed, 1 failed")
        sys.exit(1)
    return path
