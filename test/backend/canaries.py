#===- canaries.py - tests that must not pass ------------------------------===#
"""Copies of ONNX tests with spoilt expectations.

They show that the comparison inside `ampc verify` can fail: each must be
reported as "mismatch", in every mode and with every tolerance.
"""

import dataclasses
import pathlib
import shutil

import numpy as np

from ampctest.tensors import load_tensor, save_tensor

from collect import FOLDER, Test


def _one_value(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flat[x.size // 2] += np.abs(x).max() * 0.5 + 1
    return x


def _one_unit(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flat[-1] += 1
    return x


def _nan(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flat[0] = np.nan
    return x


# Canary -> test spoilt, and how.
_CANARIES = {
    "canary_scaled": ("test_matmul_2d", lambda x: x * 1.1),
    "canary_one_value": ("test_add", _one_value),
    "canary_nan_expected": ("test_relu", _nan),
    "canary_other_shape": ("test_transpose_default", lambda x: np.moveaxis(x, 0, -1)),
    "canary_fewer_elements": ("test_relu", lambda x: x[:-1]),
    "canary_integer_off_by_one": ("test_argmax_default_axis_example", _one_unit),
    "canary_bool_flipped": ("test_less", lambda x: ~x),
    "canary_other_type": ("test_neg", lambda x: x.astype(np.float64)),
}


def canaries(tests: list[Test]) -> list[Test]:
    """The spoilt tests, written below build/backend/canary."""
    by_name = {test.name: test for test in tests}
    made = []
    for name, (original, spoil) in _CANARIES.items():
        test = by_name[original]
        data = FOLDER / "canary" / name
        if not data.exists():
            partial = data.with_suffix(".part")
            shutil.rmtree(partial, ignore_errors=True)
            shutil.copytree(test.data, partial)
            output = partial / "output_0.pb"
            save_tensor(output, spoil(load_tensor(output)), "")
            partial.rename(data)
        made.append(dataclasses.replace(test, name=name, data=str(pathlib.Path(data))))
    return made
