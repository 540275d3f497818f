"""Functions of one operation each, whose gradients are checked.

`CASES` maps an op to bodies in MLIR; each is a list of arguments (shape, and an
interval of values where the default of [-1, 1) does not fit), the operation
written with %0, %1 .. for arguments and the type of its result. `UNTRAINED`
names the ops with float results that have no gradient, each with its reason.
"""

SHAPES = ([3], [2, 5], [2, 1, 4])


def tensor(shape, element="f64") -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def case(arguments, text, result):
    """(arguments, op text, result type); an argument is a shape, or (shape, range)
    or (shape, "i64", limit) or (shape, "i1")."""
    return arguments, text, result


def unary(name, low=-2.0, high=2.0, attributes=""):
    return [case([(shape, (low, high))], f"amp.{name} %0 {attributes} : ({tensor(shape)}) -> {tensor(shape)}",
                 tensor(shape)) for shape in SHAPES]


def binary(name, ranges=((-2.0, 2.0), (-2.0, 2.0)), attributes=""):
    pairs = (([2, 3], [2, 3], [2, 3]), ([2, 3], [3], [2, 3]), ([4, 1, 2], [3, 1], [4, 3, 2]), ([], [2, 2], [2, 2]))
    return [case([(a, ranges[0]), (b, ranges[1])],
                 f"amp.{name} %0, %1 {attributes} : ({tensor(a)}, {tensor(b)}) -> {tensor(r)}", tensor(r))
            for a, b, r in pairs]


def simple(name, attributes, pairs, element=None):
    """Ops of one operand, with the shapes of operand and result."""
    return [case([(a, (-2.0, 2.0))], f"amp.{name} %0 {{{extra}}} : ({tensor(a)}) -> {tensor(r)}", tensor(r))
            for (a, r), extra in zip(pairs, attributes)]


def array(values, kind="i64") -> str:
    return f"array<{kind}{': ' if values else ''}{', '.join(map(str, values))}>"


def reduce(name):
    rows = (([3, 4], [1], True, [3, 1]), ([2, 3, 4], [0, 2], False, [3]), ([5], [0], False, []), ([2, 3], [], True, [2, 3]))
    return [case([(a, (0.5, 2.0))],
                 f"amp.{name} %0 {{axes = {array(axes)}, keepdims = {str(keep).lower()}}} : "
                 f"({tensor(a)}) -> {tensor(r)}", tensor(r)) for a, axes, keep, r in rows]


def along(name, extra=""):
    return [case([a], f"amp.{name} %0 {{axis = {axis} : i64{extra}}} : ({tensor(a)}) -> {tensor(a)}", tensor(a))
            for a, axis in (([4], 0), ([3, 5], 1), ([2, 3, 4], 1))]


def window(kernel, strides, pads, dilations, more=""):
    return (f"kernel = {array(kernel)}, strides = {array(strides)}, pads = {array(pads)}, "
            f"dilations = {array(dilations)}{more}")


LAST = ", layout = #amp.layout<channels_last>"

POOLS = (
    ([2, 3, 6], window([2], [2], [0, 0], [1]), [2, 3, 3]),
    ([1, 2, 5, 6], window([3, 2], [2, 1], [1, 0, 1, 1], [1, 2]), [1, 2, 3, 5]),
    ([2, 5, 5, 3], window([3, 3], [2, 2], [1, 1, 1, 1], [1, 1], LAST), [2, 3, 3, 3]),
    ([1, 1, 3, 4, 3], window([2, 2, 2], [1, 2, 1], [0, 0, 0, 0, 0, 0], [1, 1, 1]), [1, 1, 2, 2, 2]),
    ([1, 2, 6], window([3], [2], [0, 1], [1], ", ceil_mode = true"), [1, 2, 3]),
)


def pool(name, more=""):
    return [case([a], f"amp.{name} %0 {{{attributes}{more}}} : ({tensor(a)}) -> {tensor(r)}", tensor(r))
            for a, attributes, r in POOLS]


def conv_attributes(strides, pads, dilations, group, more=""):
    return (f"strides = {array(strides)}, pads = {array(pads)}, dilations = {array(dilations)}, "
            f"group = {group} : i64{more}")


CONVS = (
    ([2, 3, 7], [4, 3, 3], conv_attributes([2], [1, 1], [1], 1), [2, 4, 4]),
    ([1, 4, 6, 5], [6, 2, 3, 2], conv_attributes([2, 1], [1, 0, 0, 1], [1, 2], 2), [1, 6, 3, 4]),
    ([2, 5, 4, 3], [3, 1, 3, 3], conv_attributes([1, 1], [1, 1, 1, 1], [1, 1], 3, LAST), [2, 5, 4, 3]),
    ([1, 2, 3, 4, 3], [2, 2, 2, 3, 1], conv_attributes([1, 2, 1], [0] * 6, [1, 1, 1], 1), [1, 2, 2, 1, 3]),
    ([1, 2, 8], [2, 2, 2], conv_attributes([3], [0, 0], [1], 1), [1, 2, 3]),
)
TRANSPOSED = (
    ([2, 3, 4], [3, 4, 3], conv_attributes([2], [1, 1], [1], 1, ", output_padding = array<i64: 1>"), [2, 4, 8]),
    ([1, 4, 3, 3], [4, 1, 2, 3], conv_attributes([1, 2], [0, 1, 0, 1], [2, 1], 2,
                                                 ", output_padding = array<i64: 0, 0>"), [1, 2, 5, 5]),
    ([2, 3, 2, 4], [4, 3, 2, 2], conv_attributes([2, 2], [0, 0, 0, 0], [1, 1], 1,
                                                 ", output_padding = array<i64: 0, 0>" + LAST), [2, 6, 4, 3]),
)


def convolutions(name, table, channel_of_bias):
    cases = []
    for x, w, attributes, y in table:
        channels = y[-1] if LAST in attributes else y[1]
        cases.append(case([x, w, [channels]],
                          f"amp.{name} %0, %1, %2 {{{attributes}}} : ({tensor(x)}, {tensor(w)}, "
                          f"{tensor([channels])}) -> {tensor(y)}", tensor(y)))
    return cases


MATMULS = (
    ([3, 4], [4, 2], "", [3, 2], [2]),
    ([2, 3, 4], [4, 5], "", [2, 3, 5], [2, 3, 5]),
    ([2, 3, 4], [5, 4], "transpose_rhs", [2, 3, 5], [5]),
    ([2, 4, 3], [2, 4, 5], "transpose_lhs", [2, 3, 5], [1, 5]),
    ([2, 1, 4, 3], [3, 5, 4], "transpose_lhs, transpose_rhs", [2, 3, 3, 5], []),
    ([4, 3], [2, 4, 5], "transpose_lhs", [2, 3, 5], [5]),
)


def matmuls():
    cases = []
    for a, b, flags, r, bias in MATMULS:
        attributes = f"{{{flags}}}" if flags else ""
        cases.append(case([a, b, bias], f"amp.matmul %0, %1, %2 {attributes} : ({tensor(a)}, {tensor(b)}, "
                                        f"{tensor(bias)}) -> {tensor(r)}", tensor(r)))
    return cases


def norms(name):
    cases = []
    for x, axis in (([3, 4], 1), ([2, 3, 4], 1), ([2, 5], 0)):
        shape = x[axis:]
        if name == "layer_norm":
            cases.append(case([x, shape, shape],
                              f"amp.layer_norm %0 scale %1 bias %2 {{axis = {axis} : i64, epsilon = 1.0e-2 : f64}} : "
                              f"({tensor(x)}, {tensor(shape)}, {tensor(shape)}) -> {tensor(x)}", tensor(x)))
        else:
            cases.append(case([x, shape], f"amp.rms_norm %0, %1 {{axis = {axis} : i64, epsilon = 1.0e-2 : f64}} : "
                                          f"({tensor(x)}, {tensor(shape)}) -> {tensor(x)}", tensor(x)))
    return cases


def group_norms():
    rows = (([2, 4, 3], 2, ""), ([1, 6, 2, 3], 6, ""), ([2, 3, 2, 4], 2, LAST))
    return [case([x, [x[-1] if more else x[1]], [x[-1] if more else x[1]]],
                 f"amp.group_norm %0 scale %1 bias %2 {{groups = {groups} : i64, epsilon = 1.0e-2 : f64{more}}} : "
                 f"({tensor(x)}, {tensor([x[-1] if more else x[1]])}, {tensor([x[-1] if more else x[1]])}) -> {tensor(x)}",
                 tensor(x)) for x, groups, more in rows]


def batch_norms():
    cases = []
    for x, more in (([2, 3, 4], ""), ([1, 2, 3, 2], ""), ([2, 2, 3, 4], LAST)):
        c = [x[-1] if more else x[1]]
        types = ", ".join([tensor(x)] + [tensor(c)] * 4)
        cases.append(case([x, c, c, c, (c, (0.5, 2.0))],
                          f"amp.batch_norm %0, %1, %2, %3, %4 {{epsilon = 1.0e-2 : f64{more}}} : ({types}) -> {tensor(x)}",
                          tensor(x)))
    return cases


def attentions():
    rows = (
        ([1, 2, 3, 4], [1, 2, 5, 4], 4, "causal = false", None),
        ([2, 4, 3, 2], [2, 2, 3, 2], 5, "causal = true", None),
        ([1, 2, 2, 3], [1, 1, 4, 3], 3, "causal = true, causal_align_end = true", ([2, 4], "f64")),
        ([1, 1, 3, 2], [1, 1, 3, 2], 2, "causal = false, softcap = 0.5 : f64", ([1, 1, 1, 3], "f64")),
        ([1, 2, 3, 2], [1, 2, 4, 2], 2, "causal = false", ([2, 3, 4], "i1")),
    )
    cases = []
    for q, k, width, flags, mask in rows:
        v, r = k[:3] + [width], q[:3] + [width]
        arguments, types, operands = [q, k, v], [tensor(q), tensor(k), tensor(v)], "%0, %1, %2"
        if mask:
            arguments.append(mask[0] if mask[1] == "f64" else (mask[0], "i1"))
            types.append(tensor(*mask))
            operands += ", %3"
        cases.append(case(arguments, f"amp.attention {operands} {{scale = 0.7 : f64, {flags}}} : "
                                     f"({', '.join(types)}) -> {tensor(r)}", tensor(r)))
    return cases


RESIZES = (
    ([1, 2, 3, 4], "scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = #amp.resize_mode<nearest>, "
     "coordinate_mode = #amp.coordinate_mode<asymmetric>, nearest_mode = #amp.nearest_mode<floor>", [1, 2, 6, 8]),
    ([1, 1, 4, 5], "scales = array<f64: 1.0, 1.0, 1.5, 0.6>, mode = #amp.resize_mode<linear>, "
     "coordinate_mode = #amp.coordinate_mode<half_pixel>", [1, 1, 6, 3]),
    ([4, 3], "scales = array<f64: 2.0, 1.0>, mode = #amp.resize_mode<cubic>, "
     "coordinate_mode = #amp.coordinate_mode<align_corners>", [8, 3]),
    ([2, 5], "scales = array<f64: 1.0, 0.8>, mode = #amp.resize_mode<linear>, extrapolation_value = 3.0 : f64, "
     "roi = array<f64: 0.0, -0.2, 1.0, 1.1>, coordinate_mode = #amp.coordinate_mode<tf_crop_and_resize>", [2, 4]),
    ([1, 1, 8], "scales = array<f64: 1.0, 1.0, 0.5>, mode = #amp.resize_mode<linear>, antialias = true, "
     "coordinate_mode = #amp.coordinate_mode<half_pixel>", [1, 1, 4]),
)


def gathers():
    def one(name, x, i, limit, attributes, r):
        return case([x, (i, "i64", limit)],
                    f"amp.{name} %0, %1 {{{attributes}}} : ({tensor(x)}, {tensor(i, 'i64')}) -> {tensor(r)}", tensor(r))
    return {
        "gather": [one("gather", [4, 3], [5], 4, "axis = 0 : i64", [5, 3]),
                   one("gather", [2, 4, 3], [2, 2], 4, "axis = 1 : i64", [2, 2, 2, 3]),
                   one("gather", [3], [], 3, "axis = 0 : i64", []),
                   one("gather", [2, 5], [3], 5, "axis = 1 : i64", [2, 3])],
        "gather_elements": [one("gather_elements", [4, 3], [2, 3], 4, "axis = 0 : i64", [2, 3]),
                            one("gather_elements", [2, 5], [2, 7], 5, "axis = 1 : i64", [2, 7]),
                            one("gather_elements", [3], [4], 3, "axis = 0 : i64", [4])],
        "gather_nd": [one("gather_nd", [3, 4], [5, 2], 3, "batch_dims = 0 : i64", [5]),
                      one("gather_nd", [4, 2, 3], [2, 2, 1], 4, "batch_dims = 0 : i64", [2, 2, 2, 3]),
                      one("gather_nd", [2, 4, 3], [2, 3, 1], 4, "batch_dims = 1 : i64", [2, 3, 3])],
    }


def scatters():
    cases = {}
    for name, x, i, u, limit, attributes in (
            ("scatter_elements", [4, 3], [2, 3], [2, 3], 4, "axis = 0 : i64, "),
            ("scatter_elements", [2, 5], [2, 1], [2, 1], 5, "axis = 1 : i64, "),
            ("scatter_elements", [6], [1], [1], 6, "axis = 0 : i64, "),
            ("scatter_nd", [4, 3], [6, 1], [6, 3], 4, ""),
            ("scatter_nd", [3, 4], [1, 2], [1], 3, ""),
            ("scatter_nd", [5, 2, 2], [1, 1], [1, 2, 2], 5, "")):
        for reduction in ("none", "add"):
            cases.setdefault(name, []).append(case(
                [x, (i, "i64", limit), u],
                f"amp.{name} %0, %1, %2 {{{attributes}reduction = #amp.scatter_reduction<{reduction}>}} : "
                f"({tensor(x)}, {tensor(i, 'i64')}, {tensor(u)}) -> {tensor(x)}", tensor(x)))
    return cases


def pads():
    rows = (([3], [1], [2], "constant"), ([4, 3], [2, -1], [0, 1], "constant"), ([4], [3], [2], "reflect"),
            ([2, 3], [1, 0], [2, 2], "edge"), ([3, 2], [2, 1], [1, 1], "wrap"))
    cases = []
    for x, low, high, mode in rows:
        r = [size + before + after for size, before, after in zip(x, low, high)]
        attributes = f"{{low = {array(low)}, high = {array(high)}, mode = #amp.pad_mode<{mode}>}}"
        cases.append(case([x], f"amp.pad %0 {attributes} : ({tensor(x)}) -> {tensor(r)}", tensor(r)))
        if mode == "constant":
            cases.append(case([x, []], f"amp.pad %0, %1 {attributes} : ({tensor(x)}, {tensor([])}) -> {tensor(r)}",
                              tensor(r)))
    return cases


def slices():
    rows = (([5], [1], [3], [1]), ([4, 6], [3, 1], [2, 2], [-1, 3]), ([3, 7], [0, 0], [3, 4], [1, 2]),
            ([2, 9], [1, 8], [1, 3], [1, -3]))
    return [case([x], f"amp.slice %0 {{starts = {array(starts)}, sizes = {array(sizes)}, strides = {array(strides)}}} : "
                      f"({tensor(x)}) -> {tensor(sizes)}", tensor(sizes)) for x, starts, sizes, strides in rows]


def concats():
    return [case([a, b], f"amp.concat %0, %1 {{axis = {axis} : i64}} : ({tensor(a)}, {tensor(b)}) -> {tensor(r)}", tensor(r))
            for a, b, axis, r in (([2], [3], 0, [5]), ([2, 3], [2, 1], 1, [2, 4]), ([1, 2, 2], [3, 2, 2], 0, [4, 2, 2]))]


def top_ks():
    return [case([x], f"amp.top_k %0 {{k = {k} : i64, axis = {axis} : i64, largest = {largest}}} : ({tensor(x)}) -> "
                      f"({tensor(r)}, {tensor(r, 'i64')})", (tensor(r), tensor(r, "i64")))
            for x, k, axis, largest, r in (([5], 2, 0, "true", [2]), ([3, 4], 3, 1, "false", [3, 3]),
                                           ([4, 2], 1, 0, "true", [1, 2]))]


def selects():
    return [case([(c, "i1"), a, b], f"amp.select %0, %1, %2 : ({tensor(c, 'i1')}, {tensor(a)}, {tensor(b)}) -> {tensor(r)}",
                 tensor(r)) for c, a, b, r in (([3], [3], [3], [3]), ([2, 1], [3], [], [2, 3]), ([4, 2], [1, 2], [4, 1], [4, 2]))]


CASES = {
    **{name: unary(name) for name in (
        "abs", "neg", "sign", "ceil", "floor", "round", "exp", "sin", "cos", "atan", "sinh", "cosh", "asinh", "tanh",
        "erf", "sigmoid", "softplus", "silu", "relu")},
    **{name: unary(name, 0.3, 3.0) for name in ("sqrt", "rsqrt", "reciprocal", "log")},
    **{name: unary(name, -0.9, 0.9) for name in ("asin", "acos", "atanh", "tan")},
    "acosh": unary("acosh", 1.2, 3.0),
    "hard_swish": unary("hard_swish", -5.0, 5.0),
    "gelu": unary("gelu", -3, 3, "{form = #amp.gelu_form<erf>}") + unary("gelu", -3, 3, "{form = #amp.gelu_form<tanh>}"),
    "leaky_relu": unary("leaky_relu", attributes="{alpha = 0.1 : f64}"),
    "hard_sigmoid": unary("hard_sigmoid", -4, 4, "{alpha = 0.2 : f64, beta = 0.5 : f64}"),
    "clip": unary("clip", attributes="{min = -0.7 : f64, max = 0.9 : f64}"),
    **{name: binary(name) for name in ("add", "sub", "mul", "max", "min")},
    "div": binary("div", ((-2.0, 2.0), (0.4, 2.0))),
    "pow": binary("pow", ((0.3, 2.0), (-2.0, 2.0))),
    "mod": binary("mod", ((-5.0, 5.0), (1.3, 2.0))) + binary("mod", ((-5.0, 5.0), (1.3, 2.0)), "{fmod = true}"),
    "select": selects(),
    "cast": [case([shape], f"amp.cast %0 : ({tensor(shape)}) -> {tensor(shape)}", tensor(shape)) for shape in SHAPES],
    "reshape": [case([a], f"amp.reshape %0 : ({tensor(a)}) -> {tensor(r)}", tensor(r))
                for a, r in (([6], [2, 3]), ([2, 3, 2], [12]), ([1], []))],
    "transpose": simple("transpose", [f"permutation = {array(p)}" for p in ([0], [1, 0], [2, 0, 1])],
                        (([3], [3]), ([2, 3], [3, 2]), ([2, 3, 4], [4, 2, 3]))),
    "broadcast": [case([a], f"amp.broadcast %0 : ({tensor(a)}) -> {tensor(r)}", tensor(r))
                  for a, r in (([3], [2, 3]), ([2, 1], [4, 2, 3]), ([], [2, 2]))],
    "slice": slices(), "concat": concats(), "pad": pads(),
    **{name: reduce(name) for name in ("reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min")},
    "softmax": along("softmax"), "log_softmax": along("log_softmax"),
    "layer_norm": norms("layer_norm"), "rms_norm": norms("rms_norm"), "group_norm": group_norms(),
    "batch_norm": batch_norms(),
    "matmul": matmuls(), "conv": convolutions("conv", CONVS, 1),
    "conv_transpose": convolutions("conv_transpose", TRANSPOSED, 1), "attention": attentions(),
    "max_pool": pool("max_pool"), "avg_pool": pool("avg_pool") + pool("avg_pool", ", count_include_pad = true"),
    "resize": [case([a], f"amp.resize %0 {{{attributes}}} : ({tensor(a)}) -> {tensor(r)}", tensor(r))
               for a, attributes, r in RESIZES],
    **gathers(), **scatters(),
    "cumsum": along("cumsum", ", exclusive = false, reverse = false") + along("cumsum", ", exclusive = true, reverse = true"),
    "top_k": top_ks(),
}

UNTRAINED = {
    "constant": "reads nothing",
    "get_weight": "reads nothing",
    "iota": "reads nothing",
    "conv_weight_gradient": "made by differentiation, which is of first order",
    "max_pool_gradient": "made by differentiation, which is of first order",
    "avg_pool_gradient": "made by differentiation, which is of first order",
    "pack": "made of constants after differentiation",
    "unpack": "made after differentiation",
    "composite": "inlined before differentiation",
    "launch": "made after differentiation",
}
