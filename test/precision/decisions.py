#===- decisions.py - what the compiler decided for a case ------------------===#
"""The precision report and the MLIR of one compilation, and how cases ask them."""

import json
import pathlib
import re
import subprocess

from ampctest import env

LAUNCH = re.compile(r'amp\.launch @"?([^"(\s]+)')
KERNEL = re.compile(r'amp\.kernel private @"?([^"(\s]+)"?\((.*?)\) -> (.*?)\{\n(.*?)\n  \}', re.DOTALL)
MOVING = {"cast", "reshape", "transpose", "slice", "broadcast", "constant"}


def _names(paths: list[str], name: str) -> bool:
    """Whether `name` is among names that have those of the nodes around before them."""
    return any(path == name or path.endswith(f"/{name}") for path in paths)


class Decisions:
    """Every `expect...` that does not hold is added to `problems`."""

    def __init__(self, folder: pathlib.Path, options: list[str]):
        self.folder, self.options = folder, options
        self.problems: list[str] = []
        report = folder / "report.json"
        empty = {"ops": [], "casts": [], "constants": [], "totals": {}}
        self.report = json.loads(report.read_text()) if report.exists() else empty

    def phase(self, name: str) -> str:
        """The MLIR after a phase."""
        return next((self.folder / "phases").glob(f"*-{name}.mlir")).read_text()

    def expect(self, condition: bool, text: str) -> None:
        if not condition:
            self.problems.append(text)

    # Operations and casts as decided.

    def ops(self, node: str) -> list[dict]:
        """What the report says of the operations that do a node's work."""
        return [op for op in self.report["ops"] if _names(op["nodes"], node)]

    def expect_type(self, node: str, type: str, rule: str | None = None) -> None:
        """Every operation of `node` computes on `type`; `rule` decided one of them
        (a node that works on channels last has transposes beside it)."""
        rows = self.ops(node)
        self.expect(bool(rows), f"{node}: not in the report")
        for row in rows:
            self.expect(row["type"] == type, f"{node}: expected {type}, got {row['type']} "
                        f"({row['rule']}: {row['reason']})")
        rules = sorted({row["rule"] for row in rows})
        self.expect(rule is None or rule in rules, f"{node}: expected rule {rule}, got {rules}")

    def casts(self, value: str | None = None, to: str | None = None, reader: str | None = None,
              constant: bool | None = None) -> list[dict]:
        """The casts inserted of a value, to a type, read by a node."""
        return [row for row in self.report["casts"]
                if (value is None or _names(row["value"], value)) and to in (None, row["to"])
                and constant in (None, row["constant"])
                and (reader is None or any(_names(use["nodes"], reader) for use in row["uses"]))]

    def expect_casts(self, count: int, **which) -> None:
        got = len(self.casts(**which))
        told = ", ".join(f"{key} {value}" for key, value in which.items())
        self.expect(got == count, f"expected {count} casts ({told}), got {got}")

    def expect_loss(self, value: str, to: str, **counts: int) -> None:
        """A constant is reported with these counts and no others."""
        rows = [row for row in self.report["constants"]
                if _names(row["value"], value) and row["to"] == to]
        self.expect(len(rows) == 1, f"expected one report of constant {value}, got {len(rows)}")
        for row in rows:
            for key in ("overflow", "subnormal", "flushed"):
                self.expect(row[key] == counts.get(key, 0),
                            f"{value}: expected {counts.get(key, 0)} {key}, got {row[key]}")

    # The program.

    def lines(self, phase: str, op: str) -> list[str]:
        return [line for line in self.phase(phase).splitlines() if f" {op} " in line]

    def standalone_casts(self) -> list[str]:
        """Kernels launched that only convert or move."""
        text = self.phase("fusion")
        bodies = {name: set(re.findall(r"= amp\.(\w+)", body))
                  for name, _, _, body in KERNEL.findall(text)}
        return [name for name in LAUNCH.findall(text) if bodies[name] <= MOVING]

    def expect_no_standalone_casts(self) -> None:
        lone = self.standalone_casts()
        self.expect(not lone, f"kernels that only convert or move: {', '.join(lone)}")

    def expect_stored(self, op: str, types: list[str]) -> None:
        """The kernels that hold `op` store results of these element types."""
        got = sorted(element for _, _, results, body in KERNEL.findall(self.phase("fusion"))
                     if re.search(rf"= amp\.{op} ", body)
                     for element in re.findall(r"x?(bf16|f16|f32)>", results))
        self.expect(got == sorted(types), f"{op}: expected to store {types}, got {got}")

    def kernel_results(self) -> list[str]:
        """The element types that the kernels launched store, in order."""
        text = self.phase("fusion")
        stored = {name: re.findall(r"x?(bf16|f16|f32)>", results)
                  for name, _, results, _ in KERNEL.findall(text)}
        return [type for name in LAUNCH.findall(text) for type in stored[name]]

    def expect_idempotent(self, amp: str) -> None:
        """The precision phase leaves its own result as it is."""
        path = next((self.folder / "phases").glob("*-precision.mlir"))
        tool = env.ampc_path().with_name("ampc-opt")
        once, twice = (subprocess.run([tool, path, *options], capture_output=True, text=True,
                                      timeout=60)
                       for options in ([], [f"--ampc-precision-pipeline=amp={amp}"]))
        self.expect(twice.returncode == 0, f"a second run fails: {twice.stderr[:200]}")
        self.expect(once.stdout == twice.stdout, "a second run of the phase changes the program")
