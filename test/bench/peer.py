#===- peer.py - the other side of a comparison, in a process of its own ---===#
"""Runs a peer library on request.

  peer.py ort MODEL.onnx THREADS        ONNX Runtime, every optimisation on
  peer.py sgemm MxNxK THREADS           OpenBLAS

Each line "COUNT SECONDS" on standard input asks for at least COUNT runs and at
least SECONDS of them; the answer is one line, a JSON list of milliseconds. The
first line printed names the peer.
"""

import ctypes
import json
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))


def onnx_runtime(path: str, threads: int):
    """(description, function that runs the model once)."""
    import onnxruntime

    from inputs import random_inputs

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
    feeds = random_inputs(pathlib.Path(path))
    # Bound once, so that no copy by Python is timed.
    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_cpu_input(name, value)
    for output in session.get_outputs():
        binding.bind_output(output.name, "cpu")
    return (f"ONNX Runtime {onnxruntime.__version__}",
            lambda: session.run_with_iobinding(binding))


def openblas(shape: str, threads: int):
    """(description, function that multiplies two row-major matrices)."""
    import scipy_openblas32

    m, n, k = map(int, shape.split("x"))
    folder = pathlib.Path(scipy_openblas32.get_lib_dir())
    library = ctypes.CDLL(str(next(folder.glob("libscipy_openblas*.so"))))
    library.scipy_openblas_set_num_threads(threads)
    library.scipy_openblas_get_corename.restype = ctypes.c_char_p
    core = library.scipy_openblas_get_corename().decode()
    rng = np.random.default_rng(0)
    a = rng.standard_normal((m, k), dtype=np.float32)
    b = rng.standard_normal((k, n), dtype=np.float32)
    c = np.zeros((m, n), np.float32)
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (a, b, c)]
    sgemm = library.scipy_cblas_sgemm
    one, zero = ctypes.c_float(1), ctypes.c_float(0)

    def run() -> None:
        # 101: row-major, 111: not transposed.
        sgemm(101, 111, 111, m, n, k, one, pointers[0], k, pointers[1], n, zero, pointers[2], n)

    run()
    assert np.allclose(c, a @ b, rtol=1e-3, atol=1e-2)
    return f"OpenBLAS {scipy_openblas32.__version__} {core}", run


def main() -> None:
    kind, what, threads = sys.argv[1:]
    name, run = {"ort": onnx_runtime, "sgemm": openblas}[kind](what, int(threads))
    print(name, flush=True)
    run()
    for line in sys.stdin:
        count, seconds = line.split()
        times, start = [], time.perf_counter()
        last = start
        while len(times) < int(count) or last - start < float(seconds):
            run()
            now = time.perf_counter()
            times.append(1e3 * (now - last))
            last = now
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
