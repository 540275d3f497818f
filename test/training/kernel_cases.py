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


def _input_gradients():
    """With a weight that is no constant, as in training: packed or transposed by a launch."""
    even = {"even": Window((2, 24, 12, 10), (3, 3), 33, strides=(2, 2), pads=(1, 1, 1, 1)),
            "even-1x1": Window((2, 17, 8, 6), (1, 1), 40, strides=(2, 2)),
            "even-thirds": Window((1, 8, 12, 9), (4, 2), 19, strides=(2, 3), pads=(1, 0, 2, 1), dilations=(1, 2)),
            "wider-than-kernel": Window((1, 5, 12, 12), (2, 2), 18, strides=(4, 3))}
    for name, conv in {**_CONVS, **even}.items():
        conv = conv.filled()
        w_shape = (conv.outputs, conv.input[1] // conv.group, *conv.kernel)
        rank = len(conv.kernel)
        rest = [conv.input[i + 2] - (conv.strides[i] * (conv.result()[i + 2] - 1) + (conv.kernel[i] - 1) * conv.dilations[i]
                                     + 1 - conv.pads[i] - conv.pads[i + rank]) for i in range(rank)]
        for layout, (attribute, order) in _LAYOUTS.items():
            for type in ("f32", "bf16"):
                x, g = _tensor(order(conv.input), type), _tensor(order(conv.result()), type)
                w, wide = _tensor(w_shape, type), _tensor(w_shape, "f32")
                common = dict(strides=conv.strides, pads=conv.pads, dilations=conv.dilations, group=f"{conv.group} : i64",
                              layout=f"#amp.layout<{attribute}>")
                cast = f"%1 = amp.cast %w : ({wide}) -> {w}" if type != "f32" else ""
                name_w = "%1" if cast else "%w"
                yield Case(f"input-{name}-{layout}-{type}", f"""\
func.func @main(%g: {g}, %w: {wide}) -> ({x}) {{
  {cast}
  %2 = amp.conv_transpose %g, {name_w} {_attributes(output_padding=rest, **common)} : ({g}, {w}) -> {x}
  return %2 : {x}
}}
""", type)
                yield Case(f"forward-{name}-{layout}-{type}", f"""\
func.func @main(%x: {x}, %w: {wide}) -> ({g}) {{
  {cast}
  %2 = amp.conv %x, {name_w} {_attributes(**common)} : ({x}, {w}) -> {g}
  return %2 : {g}
}}
""", type)


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


# Few long rows: along memory, across it, both, and too odd to be cut.
_REDUCTIONS = {
    "all": ((32 * 4099,), (0,)),
    "all-prime": ((100003,), (0,)),
    "columns": ((4, 56, 31, 24), (0, 1, 2)),
    "columns-odd": ((9216, 13), (0,)),
    "columns-wide": ((4096, 192), (0,)),
    "channels-first": ((6, 5, 71, 64), (0, 2, 3)),
    "inner": ((3, 65536), (1,)),
    "middle": ((2, 8192, 33), (1,)),
}


def _reductions():
    for name, (shape, axes) in _REDUCTIONS.items():
        for op in ("sum", "mean", "max"):
            for type in ("f32", "bf16"):
                for keepdims in ("true", "false"):
                    x = _tensor(shape, type)
                    row = _tensor([1 if i in axes else size for i, size in enumerate(shape)], type)
                    left = [1 if i in axes else size for i, size in enumerate(shape)
                            if keepdims == "true" or i not in axes]
                    y = _tensor(left, type)
                    # What computes the elements is cut with the rows.
                    yield Case(f"reduce-{op}-{name}-{type}-{keepdims}", f"""\
func.func @main(%x: {x}, %b: {row}) -> ({y}) {{
  %0 = amp.add %x, %b : ({x}, {row}) -> {x}
  %1 = amp.mul %0, %0 : ({x}, {x}) -> {x}
  %2 = amp.reduce_{op} %1 {{axes = {_array(axes)}, keepdims = {keepdims}}} : ({x}) -> {y}
  %3 = amp.sqrt %2 : ({y}) -> {y}
  return %3 : {y}
}}
""", type)


def _updates():
    """A norm of all elements, numbers that follow from it, and maps that read them, as an optimizer has."""
    for size in (37, 32 * 4099, 3 * 65536):
        x, n, c, b = _tensor((size,), "f32"), "tensor<f32>", "tensor<i32>", "tensor<i1>"
        yield Case(f"update-{size}", f"""\
func.func @main(%g: {x}, %w: {x}, %m: {x}, %scale: {n}, %rate: {n}, %most: {n}) -> ({x}, {x}, {n}, {c}, {b}, {n}) {{
  %one = amp.constant dense<1.0> : {n}
  %inf = amp.constant dense<0x7F800000> : {n}
  %zero = amp.constant dense<0> : {c}
  %inverse = amp.div %one, %scale : ({n}, {n}) -> {n}
  %decay = amp.mul %rate, %rate : ({n}, {n}) -> {n}
  %scaled = amp.mul %g, %inverse : ({x}, {n}) -> {x}
  %square = amp.mul %scaled, %scaled : ({x}, {x}) -> {x}
  %sum = amp.reduce_sum %square {{axes = array<i64: 0>, keepdims = false}} : ({x}) -> {n}
  %norm = amp.sqrt %sum : ({n}) -> {n}
  %finite = amp.compare %norm, %inf {{predicate = #amp.predicate<lt>}} : ({n}, {n}) -> {b}
  %count = amp.cast %finite : ({b}) -> {c}
  %next = amp.add %count, %zero : ({c}, {c}) -> {c}
  %clip = amp.div %most, %norm : ({n}, {n}) -> {n}
  %factor = amp.min %clip, %one : ({n}, {n}) -> {n}
  %multiplier = amp.mul %inverse, %factor : ({n}, {n}) -> {n}
  %move = amp.mul %g, %multiplier : ({x}, {n}) -> {x}
  %kept = amp.mul %m, %decay : ({x}, {n}) -> {x}
  %momentum = amp.add %kept, %move : ({x}, {x}) -> {x}
  %step = amp.mul %momentum, %rate : ({x}, {n}) -> {x}
  %moved = amp.sub %w, %step : ({x}, {x}) -> {x}
  %w2 = amp.select %finite, %moved, %w : ({b}, {x}, {x}) -> {x}
  %m2 = amp.select %finite, %momentum, %m : ({b}, {x}, {x}) -> {x}
  %grown = amp.mul %scale, %rate : ({n}, {n}) -> {n}
  return %w2, %m2, %norm, %next, %finite, %grown : {x}, {x}, {n}, {c}, {b}, {n}
}}
""", "f32")


# (input, indices, updates) of scatter_nd.
_SCATTERS = {
    "embedding": ((211, 48), (5, 9, 1), (5, 9, 48)),
    "embedding-odd": ((300, 7), (4, 33, 1), (4, 33, 7)),
    "wide": ((70, 3, 160), (90, 1), (90, 3, 160)),
    "pairs": ((13, 17, 20), (6, 30, 2), (6, 30, 20)),
    "elements": ((11, 14), (200, 2), (200,)),
}
# (input, updates, axis) of scatter_elements.
_ELEMENTS = {
    "first": ((37, 6), (90, 6), 0),
    "middle": ((3, 130, 5), (3, 40, 5), 1),
    "last": ((6, 50), (6, 77), 1),
    "smaller": ((8, 20, 9), (5, 12, 4), 1),
}


def _scatters():
    """Many updates of few elements: their order shows in what is kept last, and in sums."""
    for type in ("f32", "f16"):
        for reduction in ("add", "max", "none"):
            for name, (shape, at, updates) in _SCATTERS.items():
                x, i, u = _tensor(shape, type), _tensor(at, "i64"), _tensor(updates, type)
                yield Case(f"scatter-{name}-{reduction}-{type}", f"""\
// integers below {min(shape[:at[-1]])}
func.func @main(%x: {x}, %i: {i}, %u: {u}) -> ({x}) {{
  %0 = amp.scatter_nd %x, %i, %u {{reduction = #amp.scatter_reduction<{reduction}>}} : ({x}, {i}, {u}) -> {x}
  return %0 : {x}
}}
""", type)
            for name, (shape, updates, axis) in _ELEMENTS.items():
                x, i, u = _tensor(shape, type), _tensor(updates, "i64"), _tensor(updates, type)
                yield Case(f"scatter-elements-{name}-{reduction}-{type}", f"""\
// integers below {shape[axis]}
func.func @main(%x: {x}, %i: {i}, %u: {u}) -> ({x}) {{
  %0 = amp.scatter_elements %x, %i, %u {{axis = {axis} : i64, reduction = #amp.scatter_reduction<{reduction}>}} : ({x}, {i}, {u}) -> {x}
  return %0 : {x}
}}
""", type)


def cases():
    yield from _scatters()
    yield from _input_gradients()
    yield from _reductions()
    yield from _updates()
    yield from _weight_gradients()
    yield from _converted()
    yield from _pool_gradients()
