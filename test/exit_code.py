#===- exit_code.py - run a command that must exit with a given code -------===#
"""Usage: exit_code.py CODE COMMAND...; exits 0 if COMMAND exits with CODE."""

import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
if code != int(sys.argv[1]):
    sys.exit(f"expected exit code {sys.argv[1]}, got {code}")
