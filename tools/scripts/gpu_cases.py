"""What tools/gpu-check runs: small cases with float64 references, and programs
whose time is compared with PyTorch's. Models are written as MLIR after import."""

import dataclasses
import math
from collections.abc import Callable


def short(value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def relative_error(got, wanted) -> float:
    """||got - wanted|| / ||wanted||; infinite where one alone is no number."""
    import numpy as np

    if got.shape != wanted.shape:
        return math.inf
    got = got.astype(np.float64)
    if (np.isnan(got) != np.isnan(wanted)).any():
        return math.inf
    known = ~np.isnan(wanted) & (got != wanted)
    difference = np.linalg.norm((got - wanted)[known])
    return float(difference / max(np.linalg.norm(wanted[~np.isnan(wanted)]), 1e-30))


@dataclasses.dataclass
class Case:
    """A program from inputs a, b, ... to y. `exact`: the GPU's matrix units
    decide the result, so that it equals the simulator's bit for bit."""

    name: str
    mlir: str
    shapes: dict[str, tuple]
    reference: Callable
    amp: str = "off"
    tolerance: float = 1e-5
    exact: bool = False
    quick: bool = False

    def make_inputs(self) -> dict:
        """Numbers with eight bits, so that no 16-bit type rounds them."""
        import numpy as np

        random = np.random.default_rng(sum(map(ord, self.name)))
        tensors = {}
        for name, shape in self.shapes.items():
            values = random.standard_normal(shape).astype(np.float32)
            tensors[name] = (values.view(np.uint32) & 0xFFFF0000).view(np.float32).reshape(shape)
        return tensors


def tensor(shape: tuple, element: str = "f32") -> str:
    return f"tensor<{'x'.join(map(str, [*shape, element]))}>"


def function(shapes: dict[str, tuple], result: str, body: str, element: str = "f32") -> str:
    """@main of the inputs; `body` defines %y."""
    inputs = ", ".join(f'%{name}: {tensor(shape, element)} {{amp.name = "{name}"}}'
                       for name, shape in shapes.items())
    return (f"func.func @main({inputs}) -> ({result} {{amp.name = \"y\"}}) {{\n{body}"
            f"  return %y : {result}\n}}\n")


def matmul_case(name: str, a: tuple, b: tuple, **facts) -> Case:
    batch = max(a[:-2], b[:-2], key=len)
    result = tensor((*batch, a[-2], b[-1]))
    body = f"  %y = amp.matmul %a, %b : ({tensor(a)}, {tensor(b)}) -> {result}\n"
    shapes = {"a": a, "b": b}
    return Case(name, function(shapes, result, body), shapes, lambda a, b: a @ b, **facts)


def conv_reference(a, w, stride: int, pad: int):
    import numpy as np

    a = np.pad(a, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(a, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows[:, :, ::stride, ::stride], w, optimize=True)


def conv_case(name: str, a: tuple, w: tuple, stride: int, pad: int, **facts) -> Case:
    size = [(extent + 2 * pad - kernel) // stride + 1 for extent, kernel in zip(a[2:], w[2:])]
    result = tensor((a[0], w[0], *size))
    body = (f"  %y = amp.conv %a, %b {{strides = array<i64: {stride}, {stride}>, pads = array<i64: "
            f"{pad}, {pad}, {pad}, {pad}>, dilations = array<i64: 1, 1>, group = 1 : i64}} : "
            f"({tensor(a)}, {tensor(w)}) -> {result}\n")
    shapes = {"a": a, "b": w}
    return Case(name, function(shapes, result, body), shapes,
                lambda a, b: conv_reference(a, b, stride, pad), **facts)


def softmax_reference(a):
    import numpy as np

    e = np.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention_reference(a, b, c):
    scores = a @ b.swapaxes(-1, -2) / math.sqrt(a.shape[-1])
    return softmax_reference(scores) @ c


def attention_case(name: str, shape: tuple, **facts) -> Case:
    scale = 1 / math.sqrt(shape[-1])
    t = tensor(shape)
    body = (f"  %y = amp.attention %a, %b, %c {{scale = {scale:.17g} : f64, causal = false}} : "
            f"({t}, {t}, {t}) -> {t}\n")
    shapes = dict.fromkeys("abc", shape)
    return Case(name, function(shapes, t, body), shapes, attention_reference, **facts)


def unary_case(name: str, shape: tuple, op: str, reference: Callable, result: tuple | None = None,
               **facts) -> Case:
    out = tensor(shape if result is None else result)
    body = f"  %y = {op} : ({tensor(shape)}) -> {out}\n"
    return Case(name, function({"a": shape}, out, body), {"a": shape}, reference, **facts)


def cases() -> list[Case]:
    half = {"tolerance": 5e-3, "exact": True}
    brain = {"amp": "bf16", "tolerance": 3e-2, "exact": True}
    return [
        matmul_case("matmul-f16", (96, 64), (64, 72), amp="fp16", quick=True, **half),
        matmul_case("matmul-f16-odd", (65, 50), (50, 33), amp="fp16", quick=True, **half),
        matmul_case("matmul-f16-deep", (64, 1024), (1024, 64), amp="fp16", **half),
        matmul_case("matmul-f16-large", (256, 256), (256, 384), amp="fp16", **half),
        matmul_case("matmul-f16-batches", (3, 40, 64), (3, 64, 48), amp="fp16", **half),
        matmul_case("matmul-bf16", (128, 96), (96, 64), **brain),
        matmul_case("matmul-tf32", (64, 96), (96, 64), amp="tf32", tolerance=2e-3, exact=True),
        matmul_case("matmul-f32", (33, 70), (70, 45), quick=True),
        conv_case("conv-f16", (1, 16, 14, 14), (32, 16, 3, 3), 1, 1, amp="fp16", **half),
        conv_case("conv-bf16-strided", (2, 8, 15, 15), (16, 8, 3, 3), 2, 1, **brain),
        conv_case("conv-f32", (1, 3, 12, 12), (8, 3, 5, 5), 1, 2),
        unary_case("softmax-f32", (7, 1003), "amp.softmax %a {axis = 1 : i64}", softmax_reference,
                   quick=True),
        unary_case("sum-of-columns", (70, 45),
                   "amp.reduce_sum %a {axes = array<i64: 0>, keepdims = false}",
                   lambda a: a.sum(0), (45,)),
        unary_case("tanh", (37, 5), "amp.tanh %a", lambda a: __import__("numpy").tanh(a),
                   tolerance=1e-6, quick=True),
        unary_case("transpose", (33, 20), "amp.transpose %a {permutation = array<i64: 1, 0>}",
                   lambda a: a.T, (20, 33), tolerance=0),
        attention_case("attention-f16", (1, 2, 64, 32), amp="fp16", tolerance=5e-3),
        attention_case("attention-f32", (1, 2, 33, 16), tolerance=1e-5),
    ]


#===------------------------------------------------------------------------===#
# Programs whose time is compared
#===------------------------------------------------------------------------===#


@dataclasses.dataclass
class Speed:
    name: str
    kind: str  # matmul, conv, attention, map
    element: str  # f16, bf16
    shapes: dict[str, tuple]
    mlir: str
    flops: float
    bytes: float


def matmul_speed(m: int, n: int, k: int, element: str) -> Speed:
    shapes = {"a": (m, k), "b": (k, n)}
    a, b, wide, out = (tensor((m, k), element), tensor((k, n), element), tensor((m, n)),
                       tensor((m, n), element))
    body = (f"  %0 = amp.matmul %a, %b : ({a}, {b}) -> {wide}\n"
            f"  %y = amp.cast %0 : ({wide}) -> {out}\n")
    return Speed(f"matmul-{m}x{n}x{k}-{element}", "matmul", element, shapes,
                 function(shapes, out, body, element), 2.0 * m * n * k,
                 2.0 * (m * k + k * n + m * n))


def attention_speed(batch: int, heads: int, length: int, size: int, element: str) -> Speed:
    shape = (batch, heads, length, size)
    t = tensor(shape, element)
    body = (f"  %y = amp.attention %a, %b, %c {{scale = {1 / math.sqrt(size):.17g} : f64, causal = "
            f"false}} : ({t}, {t}, {t}) -> {t}\n")
    shapes = dict.fromkeys("abc", shape)
    return Speed(f"attention-{size}-{length}-{element}", "attention", element, shapes,
                 function(shapes, t, body, element), 4.0 * batch * heads * length * length * size,
                 8.0 * batch * heads * length * size)


def conv_speed(name: str, batch: int, channels: int, size: int, out: int, kernel: int,
               element: str) -> Speed:
    pad = kernel // 2
    a, w = (batch, channels, size, size), (out, channels, kernel, kernel)
    wide, narrow = tensor((batch, out, size, size)), tensor((batch, out, size, size), element)
    body = (f"  %0 = amp.conv %a, %b {{strides = array<i64: 1, 1>, pads = array<i64: {pad}, {pad}, "
            f"{pad}, {pad}>, dilations = array<i64: 1, 1>, group = 1 : i64}} : "
            f"({tensor(a, element)}, {tensor(w, element)}) -> {wide}\n"
            f"  %y = amp.cast %0 : ({wide}) -> {narrow}\n")
    shapes = {"a": a, "b": w}
    outputs = batch * out * size * size
    return Speed(f"conv-{name}-{element}", "conv", element, shapes,
                 function(shapes, narrow, body, element),
                 2.0 * outputs * channels * kernel * kernel,
                 2.0 * (math.prod(a) + math.prod(w) + outputs))


def map_speed(count: int, element: str) -> Speed:
    t, wide = tensor((count,), element), tensor((count,))
    body = (f"  %0 = amp.cast %a : ({t}) -> {wide}\n  %1 = amp.tanh %0 : ({wide}) -> {wide}\n"
            f"  %y = amp.cast %1 : ({wide}) -> {t}\n")
    return Speed(f"tanh-{count >> 20}M-{element}", "map", element, {"a": (count,)},
                 function({"a": (count,)}, t, body, element), 0.0, 4.0 * count)


def speeds() -> list[Speed]:
    """The shapes that other libraries publish figures of."""
    return [
        matmul_speed(4096, 4096, 4096, "bf16"),
        matmul_speed(8192, 8192, 8192, "bf16"),
        matmul_speed(4096, 14336, 4096, "bf16"),
        matmul_speed(2048, 13312, 2048, "bf16"),
        matmul_speed(1024, 3072, 768, "f16"),
        matmul_speed(128, 768, 768, "f16"),
        attention_speed(4, 16, 1024, 64, "f16"),
        attention_speed(4, 16, 4096, 64, "f16"),
        attention_speed(2, 16, 8192, 128, "f16"),
        conv_speed("resnet50-stage1", 64, 64, 56, 64, 3, "f16"),
        conv_speed("resnet50-stage3", 64, 256, 14, 256, 3, "f16"),
        conv_speed("resnet50-1x1", 64, 256, 56, 64, 1, "f16"),
        map_speed(64 << 20, "f16"),
    ]


def time_peer(speed: dict, ordinal: int) -> tuple[float | None, str]:
    """Milliseconds of PyTorch's best on the same shapes and random normal data,
    and whose code that is; nothing without PyTorch."""
    try:
        import torch
    except ImportError:
        return None, ""
    device = torch.device("cuda", ordinal)
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16}[speed["element"]]
    tensors = [torch.randn(*shape, device=device, dtype=dtype)
               for shape in speed["shapes"].values()]
    functional = torch.nn.functional
    if speed["kind"] == "matmul":
        call, whose = torch.matmul, "cuBLAS"
    elif speed["kind"] == "attention":
        call, whose = functional.scaled_dot_product_attention, "scaled_dot_product_attention"
    elif speed["kind"] == "conv":
        pad = speed["shapes"]["b"][-1] // 2
        tensors = [value.to(memory_format=torch.channels_last) for value in tensors]
        torch.backends.cudnn.benchmark = True
        call, whose = (lambda a, b: functional.conv2d(a, b, padding=pad)), "cuDNN"
    else:
        call, whose = torch.compile(torch.tanh), "torch.compile"
    with torch.no_grad(), torch.cuda.device(device):
        for _ in range(10):
            call(*tensors)
        times = []
        for _ in range(30):
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            call(*tensors)
            stop.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(stop))
    return sorted(times)[len(times) // 2], whose
