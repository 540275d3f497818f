#===- peer.py - the other side of a comparison, in a process of its own ---===#
"""Runs a peer library on request.

  peer.py ort MODEL.onnx THREADS        ONNX Runtime, every optimisation on
  peer.py sgemm MxNxK THREADS           OpenBLAS
  peer.py jax-step MODEL.onnx THREADS   a training step by JAX, compiled by XLA
  peer.py ampc-step MODEL.onnx THREADS  the same by a trainer: micro-step and update
  peer.py ampc-update MODEL.onnx THREADS  its update alone

Each line "COUNT SECONDS" on standard input asks for at least COUNT runs and at
least SECONDS of them; the answer is one line, a JSON list of milliseconds. The
first line printed names the peer.
"""

import ctypes
import json
import os
import pathlib
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tools/scripts", "test/models", "test/training")]


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


def training_batch(path: str):
    """(model, network, inputs, labels) of a classifier."""
    import onnx

    import models

    model = onnx.load(path)
    classes = model.graph.output[0].type.tensor_type.shape.dim[-1].dim_value
    network = models.Trained(lambda: model, classes)
    return model, network, *network.batch(model, 0)


def jax_step(path: str, threads: int):
    """(description, function of one step of SGD with momentum)."""
    # XLA takes as many threads as the process has processors.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    import jax
    import jax.numpy as jnp

    import jax_reference
    import models

    jax.config.update("jax_enable_x64", False)
    jax.config.update("jax_disable_most_optimizations", False)
    model, network, inputs, labels = training_batch(path)
    weights = {name: jnp.asarray(w) for name, w in models.parameters(model).items()}

    def loss(weights, inputs, labels):
        return jax_reference.mean_loss(network.loss, jax_reference.forward(model, weights, inputs), labels)

    def step(weights, moments, inputs, labels):
        value, gradients = jax.value_and_grad(loss)(weights, inputs, labels)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in gradients.values()))
        factor = jnp.minimum(1, 1 / (norm + 1e-6))
        moments = {name: 0.9 * m + factor * gradients[name] for name, m in moments.items()}
        return {name: w - 1e-3 * moments[name] for name, w in weights.items()}, moments, value

    state = [weights, {name: jnp.zeros_like(w) for name, w in weights.items()}]
    compiled = jax.jit(step, donate_argnums=(0, 1)).lower(*state, inputs, labels).compile()

    def run() -> None:
        *state[:], value = compiled(*state, inputs, labels)
        value.block_until_ready()

    return f"JAX {jax.__version__}", run


def ampc_training(path: str, threads: int, with_step: bool):
    """(description, function that runs a trainer's entries once)."""
    from trainers import Compiled

    model, _, inputs, labels = training_batch(path)
    trainer = Compiled(model, "off", "momentum", threads=threads, debug=False)
    trainer.step(inputs, labels)

    def run() -> None:
        if with_step:
            trainer.step(inputs, labels)
        trainer.run_apply(learning_rate=1e-3, momentum=0.9, max_norm=1.0)

    return "ampc", run


KINDS = {
    "ort": onnx_runtime,
    "sgemm": openblas,
    "jax-step": jax_step,
    "ampc-step": lambda path, threads: ampc_training(path, threads, True),
    "ampc-update": lambda path, threads: ampc_training(path, threads, False),
}


def main() -> None:
    kind, what, threads = sys.argv[1:]
    name, run = KINDS[kind](what, int(threads))
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
