#===- shape_cases.py - sizes that overflow, explode or do not fit ---------===#
"""Shapes, attributes of wrong rank and values out of range."""

from onnx import TensorProto

from case import INT64, add, add_op, ints, model, node, weight


def _input_dims(name: str, dims) -> None:
    add(f"input-{name}", model([node("Relu", ["x"], ["y"])], [("x", dims)], [("y", dims)]),
        "x", "the_relu")


_input_dims("negative-dim", [2, -5])
_input_dims("product-overflows", [2**40, 2**40])
_input_dims("dim-2-to-63", [2**63 - 1])
_input_dims("bytes-overflow", [2**62])
_input_dims("rank-10000", [1] * 10000)


def _weight(name: str, **fields) -> None:
    tensor = TensorProto(name="w", dims=fields.pop("dims", [4]), **fields)
    add(f"weight-{name}", model([node("Add", ["x", "w"], ["y"])], [("x", [4])], [("y", [4])],
                                [tensor]), "w")


_F32 = TensorProto.FLOAT
_weight("raw-short", data_type=_F32, raw_data=bytes(12))
_weight("raw-long", data_type=_F32, raw_data=bytes(20))
_weight("raw-no-multiple", data_type=_F32, raw_data=bytes(15))
_weight("raw-empty", data_type=_F32)
_weight("floats-short", data_type=_F32, float_data=[1, 2, 3])
_weight("wrong-field", data_type=_F32, int64_data=[1, 2, 3, 4])
_weight("both-fields", data_type=_F32, raw_data=bytes(16), float_data=[1, 2, 3, 4])
_weight("type-unknown", data_type=999, raw_data=bytes(16))
_weight("type-undefined", data_type=0, raw_data=bytes(16))
_weight("string-raw", data_type=TensorProto.STRING, raw_data=bytes(16))
_weight("int4-short", data_type=TensorProto.INT4, raw_data=bytes(1))
_weight("dim-negative", data_type=_F32, dims=[-4], raw_data=bytes(16))
_weight("dims-overflow", data_type=_F32, dims=[2**32, 2**32, 4], raw_data=bytes(16))
_weight("dims-wrap-to-size", data_type=_F32, dims=[2**62 + 4], raw_data=bytes(16))
_weight("segment", data_type=_F32, raw_data=bytes(8),
        segment=TensorProto.Segment(begin=0, end=2))

# Bombs: small files that ask for large tensors.
_BIG = ints("s", 2**20, 2**20)


def _const(name: str, one, weights, *names: str, **fields) -> None:
    add(name, model([one], [("x", [1, 1])], [(one.output[0], None)], weights), one.name, *names,
        **fields)


_const("constantofshape-bomb", node("ConstantOfShape", ["s"], ["y"]), [_BIG])
_const("constantofshape-negative", node("ConstantOfShape", ["s"], ["y"]), [ints("s", -2)])
_const("constantofshape-overflow", node("ConstantOfShape", ["s"], ["y"]),
       [ints("s", 2**40, 2**40)])
_const("expand-bomb", node("Expand", ["w", "s"], ["y"]), [weight("w", [1]), _BIG])
_const("expand-overflow", node("Expand", ["w", "s"], ["y"]),
       [weight("w", [1]), ints("s", 2**40, 2**40)])
_const("expand-runtime-bomb", node("Expand", ["x", "s"], ["y"]), [_BIG])
_const("tile-bomb", node("Tile", ["w", "s"], ["y"]), [weight("w", [1, 1]), _BIG])
_const("tile-negative", node("Tile", ["x", "s"], ["y"]), [ints("s", -1, 2)])
_const("tile-overflow", node("Tile", ["x", "s"], ["y"]), [ints("s", 2**40, 2**40)])
_const("range-bomb", node("Range", ["a", "b", "c"], ["y"]),
       [weight("a", [], [0], INT64), weight("b", [], [2**45], INT64), weight("c", [], [1], INT64)])
_const("range-step-zero", node("Range", ["a", "b", "c"], ["y"]),
       [weight("a", [], [0], INT64), weight("b", [], [5], INT64), weight("c", [], [0], INT64)])
_const("pad-bomb", node("Pad", ["x", "p"], ["y"]), [ints("p", 2**30, 2**30, 2**30, 2**30)])
_const("pad-overflow", node("Pad", ["x", "p"], ["y"]), [ints("p", 2**63 - 1, 0, 2**63 - 1, 0)])
_const("pad-below-zero", node("Pad", ["x", "p"], ["y"]), [ints("p", -3, 0, -3, 0)])
_const("onehot-bomb", node("OneHot", ["i", "d", "v"], ["y"]),
       [ints("i", 1, 2), weight("d", [], [2**50], INT64), weight("v", [2])])
_const("resize-bomb", node("Resize", ["x", "", "s"], ["y"]), [weight("s", [2], [1e9, 1e9])])
_const("resize-nan", node("Resize", ["x", "", "s"], ["y"]), [weight("s", [2], [float("nan"), 1])])
_const("eyelike-bomb", node("EyeLike", ["c"], ["y"]), [weight("c", [0, 2**40], [])], "c")


# Whichever step first asks for too much.
DOUBLES = [f"double_{step}" for step in range(60)]


def _doubling(steps: int, first):
    """concat(v, v) `steps` times: the size is exponential in the file's."""
    nodes, value = list(first), "v0"
    for step in range(steps):
        nodes.append(node("Concat", [value, value], [f"v{step + 1}"], f"double_{step}", axis=0))
        value = f"v{step + 1}"
    return model(nodes, [("x", [4])], [(value, None)])


add("concat-doubling-constant",
    lambda: _doubling(60, [node("Constant", [], ["v0"], value=weight("", [4]))]), *DOUBLES)
add("concat-doubling-input", lambda: _doubling(60, [node("Relu", ["x"], ["v0"])]), *DOUBLES)

# Reshapes and movements.
_S = "s"
for _name, _shape in {"two-unknown": (-1, -1), "indivisible": (5, -1), "overflow": (2**40, 2**40),
                      "wrong-count": (7, 3), "below-minus-one": (-2, 3)}.items():
    add_op(f"reshape-{_name}", node("Reshape", ["x", _S], ["y"]), weights=[ints(_S, *_shape)])
add_op("transpose-repeated", node("Transpose", ["x"], ["y"], perm=[0, 1, 1, 2]))
add_op("transpose-out-of-range", node("Transpose", ["x"], ["y"], perm=[0, 1, 2, 7]))
add_op("transpose-short", node("Transpose", ["x"], ["y"], perm=[1, 0]))
add_op("concat-axis", node("Concat", ["x", "x"], ["y"], axis=9))
add_op("flatten-axis", node("Flatten", ["x"], ["y"], axis=-9))
add_op("softmax-axis", node("Softmax", ["x"], ["y"], axis=4))
add_op("gather-axis", node("Gather", ["x", "i"], ["y"], axis=6), weights=[ints("i", 0)])
add_op("gather-index", node("Gather", ["x", "i"], ["y"], axis=1), weights=[ints("i", 10**9)])
add_op("squeeze-large-dim", node("Squeeze", ["x", "a"], ["y"]), weights=[ints("a", 1)])
add_op("unsqueeze-repeated", node("Unsqueeze", ["x", "a"], ["y"]), weights=[ints("a", 1, 1)])
add_op("unsqueeze-out-of-range", node("Unsqueeze", ["x", "a"], ["y"]), weights=[ints("a", 99)])
add_op("slice-step-zero", node("Slice", ["x", "a", "b", "c", "d"], ["y"]),
       weights=[ints("a", 0), ints("b", 5), ints("c", 2), ints("d", 0)])
add_op("slice-ranks-differ", node("Slice", ["x", "a", "b"], ["y"]),
       weights=[ints("a", 0, 0), ints("b", 5)])
add_op("split-to-nothing", node("Split", ["x"], [], axis=1))
add_op("split-sum", node("Split", ["x", "s"], ["y", "z"], axis=1), weights=[ints("s", 1, 1)])
add_op("split-negative", node("Split", ["x", "s"], ["y", "z"], axis=1),
       weights=[ints("s", -1, 4)])
add_op("reducesum-axis", node("ReduceSum", ["x", "a"], ["y"]), weights=[ints("a", 12)])
add_op("topk-beyond", node("TopK", ["x", "k"], ["v", "i"]), weights=[ints("k", 100)])
add_op("topk-negative", node("TopK", ["x", "k"], ["v", "i"]), weights=[ints("k", -1)])
add_op("broadcast-mismatch", node("Add", ["x", "w"], ["y"]), weights=[weight("w", [5])])
add_op("matmul-mismatch", node("MatMul", ["x", "w"], ["y"]), weights=[weight("w", [5, 2])])
add_op("matmul-scalar", node("MatMul", ["x", "w"], ["y"]), weights=[weight("w", [])])
add_op("gemm-rank", node("Gemm", ["x", "w"], ["y"]), weights=[weight("w", [8, 2])])
add_op("depthtospace-zero", node("DepthToSpace", ["x"], ["y"], blocksize=0))
add_op("depthtospace-indivisible", node("DepthToSpace", ["x"], ["y"], blocksize=2))
add_op("einsum-open", node("Einsum", ["x"], ["y"], equation="ij,->"))
add_op("einsum-long", node("Einsum", ["x"], ["y"], equation="a" * 100000))
add_op("cast-unknown-type", node("Cast", ["x"], ["y"], to=999))
add_op("layernorm-axis", node("LayerNormalization", ["x", "w"], ["y"], axis=7),
       weights=[weight("w", [8])])
add_op("layernorm-scale", node("LayerNormalization", ["x", "w"], ["y"], axis=-1),
       weights=[weight("w", [5])])
add_op("batchnorm-channels", node("BatchNormalization", ["x", "w", "w", "w", "w"], ["y"]),
       weights=[weight("w", [5])])

# Convolution and pooling.
_W = [weight("w", [4, 3, 3, 3])]
for _name, _attributes in {
        "strides-rank": dict(strides=[1]), "stride-zero": dict(strides=[0, 1]),
        "stride-negative": dict(strides=[-1, 1]), "dilations-rank": dict(dilations=[1, 1, 1]),
        "dilation-overflow": dict(dilations=[2**62, 2**62]), "dilation-zero": dict(dilations=[0, 0]),
        "pads-rank": dict(pads=[1, 1]), "pads-overflow": dict(pads=[2**62] * 4),
        "pads-negative": dict(pads=[-9] * 4), "kernel-rank": dict(kernel_shape=[3]),
        "kernel-differs": dict(kernel_shape=[5, 5]), "group-zero": dict(group=0),
        "group-negative": dict(group=-1), "group-indivisible": dict(group=2),
        "auto-pad-unknown": dict(auto_pad="SAME_SIDEWAYS")}.items():
    add_op(f"conv-{_name}", node("Conv", ["x", "w"], ["y"], **_attributes), weights=_W)
add_op("conv-channels", node("Conv", ["x", "w"], ["y"]), weights=[weight("w", [4, 2, 3, 3])])
add_op("conv-weight-rank", node("Conv", ["x", "w"], ["y"]), weights=[weight("w", [4, 3])])
add_op("conv-kernel-too-large", node("Conv", ["x", "w"], ["y"]),
       weights=[weight("w", [4, 3, 9, 9])])
add_op("convtranspose-bomb", node("ConvTranspose", ["x", "w"], ["y"], strides=[2**31, 2**31]),
       weights=[weight("w", [3, 2, 3, 3])])
for _op in ("MaxPool", "AveragePool"):
    add_op(f"{_op.lower()}-kernel-zero", node(_op, ["x"], ["y"], kernel_shape=[0, 2]))
    add_op(f"{_op.lower()}-kernel-rank", node(_op, ["x"], ["y"], kernel_shape=[2]))
    add_op(f"{_op.lower()}-kernel-missing", node(_op, ["x"], ["y"]))
    add_op(f"{_op.lower()}-pads-overflow",
           node(_op, ["x"], ["y"], kernel_shape=[2, 2], pads=[2**62] * 4))
