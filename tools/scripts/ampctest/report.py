#===- report.py - the closing line of a test run --------------------------===#
"""Counting results, and the last line that every test tool prints."""


class Tally:
    """Passed, failed and skipped tests of one run."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, ok: bool) -> None:
        if ok:
            self.passed += 1
        else:
            self.failed += 1

    def report(self, name: str, problems: list[str], remark: str = "", verbose=False) -> None:
        """Count a test, and print what is wrong; with `verbose` also that nothing is."""
        self.add(not problems)
        if problems:
            print(f"FAIL {name}: {'; '.join(problems[:4])}", flush=True)
        elif verbose:
            print(f"ok   {name}{remark and ': ' + remark}", flush=True)

    def close(self) -> int:
        """Print the closing line; the exit code for this run.

        A run that tested nothing has failed.
        """
        if self.passed + self.failed == 0:
            print("error: no test ran")
            self.failed = 1
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{skipped}", flush=True)
        return 1 if self.failed else 0
