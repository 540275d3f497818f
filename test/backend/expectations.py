#===- expectations.py - the strict lists of tests that do not pass --------===#
"""test/backend/LIST.txt: one line `NAME<TAB>STATUS<TAB>REASON` for each test that
is not expected to pass, sorted by name.

The lists are strict both ways: an unlisted test that does not pass is a
failure, and so is a listed test that passes or fails in another way. A mode has
several lists (modes.py): the first is that of the precision on the CPU, the
others say in what the simulated targets, and single ones of them, differ. There
a test may have the status "pass".
"""

import pathlib
import re

from modes import Mode

FOLDER = pathlib.Path(__file__).resolve().parent


def path_of(name: str) -> pathlib.Path:
    return FOLDER / f"{name}.txt"


def load_list(name: str) -> dict[str, tuple[str, str]]:
    """Name -> (status, reason); empty if there is no such list."""
    path = path_of(name)
    listed = {}
    if path.exists():
        for number, text in enumerate(path.read_text().splitlines(), 1):
            if not text or text.startswith("#"):
                continue
            fields = text.split("\t")
            if len(fields) != 3 or not fields[2]:
                raise ValueError(f"{path}:{number}: expected NAME<TAB>STATUS<TAB>REASON")
            listed[fields[0]] = (fields[1], fields[2])
    return listed


def save_list(name: str, listed: dict[str, tuple[str, str]]) -> None:
    lines = [f"{test}\t{status}\t{reason}\n" for test, (status, reason) in sorted(listed.items())]
    if lines or name.startswith("cpu-"):
        path_of(name).write_text("".join(lines))
    else:
        path_of(name).unlink(missing_ok=True)


def load(mode: Mode) -> dict[str, tuple[str, str]]:
    """What is expected not to pass: name -> (status, reason)."""
    expected = {}
    for name in mode.lists:
        expected |= load_list(name)
    return {test: entry for test, entry in expected.items() if entry[0] != "pass"}


def stale(mode: Mode, known: set[str]) -> list[str]:
    """What is wrong with the lists themselves, one line each."""
    problems, expected = [], {}
    for name in mode.lists:
        for test, entry in load_list(name).items():
            if test not in known:
                problems.append(f"{name}.txt: {test}: listed, but there is no such test")
            elif expected.get(test, ("pass", ""))[0] == entry[0]:
                problems.append(f"{name}.txt: {test}: {entry[0]} is expected without this line")
            expected[test] = entry
    return problems


def reason_of(message: str) -> str:
    """A diagnostic as a reason: one line without paths and locations."""
    text = re.sub(r"^\S*\.onnx:(\S*:)? *", "", message.strip())
    text = re.sub(r"^error: *", "", text)
    text = re.sub(r"/[\w./-]*/", "", text)
    text = re.sub(r"0x[0-9a-f]+", "0x...", text)
    return text[:160].rstrip() or "no message"


def update(mode: Mode, results: dict, known: set[str]) -> None:
    """Rewrite the mode's last list from `results`; tests not run keep their line.

    A reason written by hand stays while the status does not change.
    """
    *general, own = mode.lists
    base = {}
    for name in general:
        base |= load_list(name)
    listed = {test: entry for test, entry in load_list(own).items() if test in known}
    for test, result in results.items():
        if result.status == base.get(test, ("pass", ""))[0]:
            listed.pop(test, None)
        elif test not in listed or listed[test][0] != result.status:
            reason = "passes here" if result.status == "pass" else reason_of(result.message)
            listed[test] = (result.status, reason)
    save_list(own, listed)


def share(modes: list[Mode]) -> None:
    """Move lines that the last lists of all `modes` have in common up: those of
    one precision into its list, those of all precisions into the most general."""
    for level in (-1, -2):
        groups: dict[str, list[str]] = {}
        for mode in modes:
            names = groups.setdefault(mode.lists[level - 1], [])
            if mode.lists[level] not in names:
                names.append(mode.lists[level])
        for general, names in groups.items():
            _hoist(general, names)


def _hoist(general: str, names: list[str]) -> None:
    lists = [load_list(name) for name in names]
    common = {test: entry for test, entry in lists[0].items()
              if all(other.get(test, ("",))[0] == entry[0] for other in lists)}
    if common:
        save_list(general, load_list(general) | common)
        for name, listed in zip(names, lists):
            save_list(name, {test: entry for test, entry in listed.items() if test not in common})
