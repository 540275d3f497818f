#===- tensors.py - ONNX tensor files and their comparison -----------------===#
"""Reading, writing and comparing tensors stored as ONNX protobuf files."""

import pathlib

import numpy as np
import onnx
from onnx import numpy_helper


def save_value(path: pathlib.Path, value, type_proto: onnx.TypeProto, name: str) -> None:
    """Write a tensor, list, dict or optional as the proto its type asks for."""
    if isinstance(value, onnx.TensorProto):
        proto = value
    elif type_proto.HasField("map_type"):
        proto = numpy_helper.from_dict(value, name)
    elif type_proto.HasField("sequence_type"):
        proto = numpy_helper.from_list(value, name)
    elif type_proto.HasField("optional_type"):
        proto = numpy_helper.from_optional(value, name)
    else:
        proto = numpy_helper.from_array(np.asarray(value), name)
    path.write_bytes(proto.SerializeToString())


def save_tensor(path: pathlib.Path, value: np.ndarray, name: str) -> None:
    path.write_bytes(numpy_helper.from_array(np.asarray(value), name).SerializeToString())


def load_tensor(path: pathlib.Path) -> np.ndarray:
    """The array in a .pb (TensorProto) or .npy file."""
    if path.suffix == ".npy":
        return np.load(path, allow_pickle=False)
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def frobenius_error(got: np.ndarray, want: np.ndarray) -> float:
    """||got - want|| / ||want|| in float64; infinite when finiteness differs."""
    got, want = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(want)
    if not np.array_equal(finite, np.isfinite(got)):
        return float("inf")
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return float("inf")
    norm = float(np.linalg.norm(want[finite]))
    difference = float(np.linalg.norm(got[finite] - want[finite]))
    return difference / norm if norm > 0 else difference


def compare(got: np.ndarray, want: np.ndarray, *, rtol=None, atol=None,
            frobenius=None) -> str | None:
    """What is wrong with `got`, or None.

    Floating-point tensors are compared elementwise (`rtol`, `atol`) or as a
    whole (`frobenius`), all others exactly.
    """
    if got.shape != want.shape:
        return f"expected shape {list(want.shape)}, got {list(got.shape)}"
    if got.dtype != want.dtype:
        return f"expected type {want.dtype}, got {got.dtype}"
    exact = np.issubdtype(want.dtype, np.integer) or want.dtype == bool
    if exact or want.dtype.kind in "OSU":
        wrong = int(np.sum(got != want))
        return f"{wrong} of {want.size} elements differ" if wrong else None
    if frobenius is not None:
        error = frobenius_error(got, want)
        if error <= frobenius:
            return None
        return f"relative error {error:.2e} above {frobenius:.0e}"
    close = np.isclose(got.astype(np.float64), want.astype(np.float64), rtol=rtol, atol=atol,
                       equal_nan=True)
    if close.all():
        return None
    error = frobenius_error(got, want)
    return (f"{int(np.sum(~close))} of {want.size} elements beyond rtol {rtol:g}, atol {atol:g}; "
            f"relative error {error:.2e}")
