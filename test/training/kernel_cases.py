#===- kernel_cases.py - graphs of the operations of backward passes --------===#
"""Graphs for check_kernels.py, of sizes that are not friendly."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    text: str
    type: str  # whose bound holds


def _tensor(shape, type: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{type}>"


def _array(values) -> str:
    return f"array<i64{': ' if values else ''}{', '.join(map(str, values))}>"


def _attributes(**values) -> str:
    def literal(value):
        return _array(value) if isinstance(value, (list, tuple)) else str(value)

    return "{" + ", ".join(f"{name} = {literal(value)}" for name, value in values.items()) + "}"


def _last(shape) -> tuple:
    return (shape[0], *shape[2:], shape[1])


@dataclasses.dataclass(frozen=True)
class Window:
    """The geometry of a convolution or a pool."""
    input: tuple
    kernel: tuple
    outputs: int = 0
    strides: tuple = ()
    pads: tuple = ()
    dilations: tuple = ()
    group: int = 1

    def filled(self) -> "Window":
        rank = len(self.kernel)
        return dataclasses.replace(self, strides=self.strides or (1,) * rank, pads=self.pads or (0,) * (2 * rank),
                                   dilations=self.dilations or (1,) * rank, outputs=self.outputs or self.input[1])

    def result(self) -> tuple:
        rank = len(self.kernel)
        sizes = [(self.input[i + 2] + self.pads[i] + self.pads[i + rank] - self.dilations[i] * (self.kernel[i] - 1) - 1)
                 // self.strides[i] + 1 for i in range(rank)]
        return (self.input[0], self.outputs, *sizes)

    def attributes(self, layout: str, **more) -> str:
        return _attributes(kernel=self.kernel, strides=self.strides, pads=self.pads, dilations=self.dilations,
                           layout=f"#amp.layout<{layout}>", **more)


_LAYOUTS = {"first": ("channels_first", lambda shape: shape), "last": ("channels_last", _last)}

_CONVS = {
    "3x3": Window((2, 5, 9, 7), (3, 3), 7, pads=(1, 1, 1, 1)),
    "strided": Window((2, 3, 11, 8), (3, 2), 13, strides=(2, 3), pads=(1, 0, 2, 1)),
    "dilated": Window((1, 4, 12, 9), (3, 3), 6, pads=(2, 3, 2, 3), dilations=(2, 3)),
    "1x1": Window((3, 17, 5, 5), (1, 1), 33),
    "1x1-strided": Window((2, 40, 7, 7), (1, 1), 24, strides=(2, 2)),
    "cropped": Window((1, 8, 9, 9), (2, 2), 5, pads=(-1, 0, 1, -2)),
    "stem": Window((2, 3, 23, 21), (7, 7), 10, strides=(2, 2), pads=(3, 3, 3, 3)),
    "wide": Window((1, 64, 14, 14), (3, 3), 48, pads=(1, 1, 1, 1)),
    "deep": Window((4, 8, 40, 40), (1, 1), 16),
    "many": Window((1, 272, 3, 5), (3, 3), 130, pads=(1, 1, 1, 1)),
    "grouped": Window((2, 12, 6, 6), (3, 3), 18, pads=(1, 1, 1, 1), group=3),
    "depthwise": Window((2, 19, 8, 7), (3, 3), 19, pads=(1, 1, 1, 1), group=19),
    "depthwise-strided": Window((1, 40, 11, 13), (5, 5), 40, strides=(2, 2), pads=(2, 2, 2, 2), group=40),
    "multiplier": Window((2, 4, 6, 5), (3, 3), 8, group=4),
    "1d": Window((2, 6, 31), (4,), 5, strides=(2,), pads=(1, 2)),
    "3d": Window((1, 3, 5, 6, 4), (2, 3, 2), 4, pads=(1, 0, 1, 0, 1, 0)),
}


def _weight_gradients():
    for name, conv in _CONVS.items():
        conv = conv.filled()
        weight = (conv.outputs, conv.input[1] // conv.group, *conv.kernel)
        for layout, (attribute, order) in _LAYOUTS.items():
            for type in ("f32", "f16", "bf16"):
                x, g = _tensor(order(conv.input), type), _tensor(order(conv.result()), type)
                # What a program does with it: added to a sum.
                w = _tensor(weight, "f32")
                yield Case(f"conv-{name}-{layout}-{type}", f"""\
func.func @main(%x: {x}, %g: {g}, %sum: {w}) -> ({w}) {{
  %0 = amp.conv_weight_gradient %x, %g {conv.attributes(attribute, group=f"{conv.group} : i64")} : ({x}, {g}) -> {w}
  %1 = amp.add %sum, %0 : ({w}, {w}) -> {w}
  return %1 : {w}
}}
""", "f32")


def _converted():
    """Operands that the kernel casts, and a result of 16 bits."""
    conv = _CONVS["3x3"].filled()
    for layout, (attribute, order) in _LAYOUTS.items():
        wide = [_tensor(order(shape), "f32") for shape in (conv.input, conv.result())]
        narrow = [_tensor(order(shape), "bf16") for shape in (conv.input, conv.result())]
        w = _tensor((conv.outputs, conv.input[1], *conv.kernel), "bf16")
        yield Case(f"conv-converted-{layout}", f"""\
func.func @main(%x: {wide[0]}, %g: {wide[1]}) -> ({w}) {{
  %0 = amp.cast %x : ({wide[0]}) -> {narrow[0]}
  %1 = amp.cast %g : ({wide[1]}) -> {narrow[1]}
  %2 = amp.conv_weight_gradient %0, %1 {conv.attributes(attribute, group="1 : i64")} : ({narrow[0]}, {narrow[1]}) -> {w}
  return %2 : {w}
}}
""", "bf16")


_POOLS = {
    "2x2": Window((2, 5, 8, 6), (2, 2), strides=(2, 2)),
    "overlapping": Window((1, 19, 9, 11), (3, 3), strides=(2, 2), pads=(1, 1, 1, 1)),
    "dilated": Window((2, 3, 10, 9), (2, 3), dilations=(3, 2), pads=(1, 1, 0, 2)),
    "left-over": Window((1, 16, 7, 8), (2, 3), strides=(3, 3)),
    "global": Window((2, 33, 4, 5), (4, 5)),
    "1d": Window((3, 4, 17), (5,), strides=(2,), pads=(2, 1)),
    "3d": Window((1, 2, 5, 4, 6), (2, 2, 2), strides=(2, 1, 2), pads=(0, 1, 0, 0, 0, 0)),
}


def _pool_gradients():
    for name, pool in _POOLS.items():
        pool = pool.filled()
        for layout, (attribute, order) in _LAYOUTS.items():
            for type in ("f32", "f16", "bf16"):
                x, g = _tensor(order(pool.input), type), _tensor(order(pool.result()), type)
                # Half of the elements are equal: zeros.
                yield Case(f"max-pool-{name}-{layout}-{type}", f"""\
func.func @main(%x: {x}, %g: {g}) -> ({x}) {{
  %0 = amp.relu %x : ({x}) -> {x}
  %1 = amp.max_pool_gradient %0, %g {pool.attributes(attribute)} : ({x}, {g}) -> {x}
  return %1 : {x}
}}
""", type)
                for padding in ("true", "false"):
                    counted = "-counted" if padding == "true" else ""
                    yield Case(f"avg-pool-{name}{counted}-{layout}-{type}", f"""\
func.func @main(%g: {g}) -> ({x}) {{
  %0 = amp.avg_pool_gradient %g {pool.attributes(attribute, count_include_pad=padding)} : ({g}) -> {x}
  return %0 : {x}
}}
""", type)


def cases():
    yield from _weight_gradients()
    yield from _converted()
    yield from _pool_gradients()
