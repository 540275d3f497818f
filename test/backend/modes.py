#===- modes.py - how the compiler is run on the tests ---------------------===#
"""A mode is a target and a precision: "cpu-fp16", "sim-sm_80-bf16".

Every precision runs on every target whose matrix units multiply in it.
"""

import dataclasses
import fnmatch


@dataclasses.dataclass(frozen=True)
class Mode:
    name: str
    options: tuple[str, ...]  # of ampc
    simulated: bool
    # Where the tests that do not pass are listed, most general first; a later
    # list overrules an earlier one.
    lists: tuple[str, ...]


# Precision -> options of ampc. fp32 is compared element by element with ONNX's
# own tolerances.
_AMPS = {
    "fp32": ("--amp=off",),
    "fp16": ("--amp=fp16", "--max-error=frobenius:5e-3"),
    "bf16": ("--amp=bf16", "--max-error=frobenius:3e-2"),
    # The ten bits of fp16's significand.
    "tf32": ("--amp=tf32", "--max-error=frobenius:5e-3"),
}
_SIMULATED = {"sm_75": ("fp32", "fp16"),
              "sm_80": ("fp32", "fp16", "bf16", "tf32"),
              "sm_90a": ("fp32", "fp16", "bf16", "tf32")}


def _modes():
    for amp in ("fp32", "fp16", "bf16"):
        yield Mode(f"cpu-{amp}", ("--target=cpu", *_AMPS[amp]), False, (f"cpu-{amp}",))
    for arch, amps in _SIMULATED.items():
        for amp in amps:
            # tf32 changes contractions of f32 only, and is compared as fp16.
            base = "cpu-fp16" if amp == "tf32" else f"cpu-{amp}"
            yield Mode(f"sim-{arch}-{amp}", ("--simulate", f"--cuda-arch={arch}", *_AMPS[amp]),
                       True, (base, "sim", f"sim-{amp}", f"sim-{arch}-{amp}"))


MODES = {mode.name: mode for mode in _modes()}


def matching(pattern: str) -> list[Mode]:
    """By name or glob; "cpu" and "sim" are all modes of the kind."""
    if pattern in ("cpu", "sim"):
        pattern += "-*"
    return [mode for mode in MODES.values() if fnmatch.fnmatchcase(mode.name, pattern)]
