#===- binding.py - inputs whose values decide a shape ---------------------===#
"""Which run-time inputs of a model decide the shape of a result.

ONNX's tests pass shapes, axes and counts as graph inputs, while programs are
compiled for static shapes. Such a test is run with those inputs bound to the
values in its data set (`ampc --bind-input=NAME`).
"""

import onnx

# Op -> input slots whose values decide a result's shape or the op's structure.
_SHAPE_SLOTS = {
    "AffineGrid": (1,),
    "BlackmanWindow": (0,),
    "CenterCropPad": (1,),
    "Col2Im": (1, 2),
    "Compress": (1,),
    "ConstantOfShape": (0,),
    "CumProd": (1,),
    "CumSum": (1,),
    "DFT": (1, 2),
    "Dropout": (1, 2),
    "Expand": (1,),
    "HammingWindow": (0,),
    "HannWindow": (0,),
    "Loop": (0, 1),
    "MaxUnpool": (2,),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
    "NonZero": (0,),
    "OneHot": (1,),
    "Pad": (1, 3),
    "Range": (0, 1, 2),
    "ReduceL1": (1,),
    "ReduceL2": (1,),
    "ReduceLogSum": (1,),
    "ReduceLogSumExp": (1,),
    "ReduceMax": (1,),
    "ReduceMean": (1,),
    "ReduceMin": (1,),
    "ReduceProd": (1,),
    "ReduceSum": (1,),
    "ReduceSumSquare": (1,),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "STFT": (1, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "SplitToSequence": (1,),
    "Squeeze": (1,),
    "Tile": (1,),
    "TopK": (1,),
    "Trilu": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
}

# Ops that ask for a shape only; what flows in is not needed to know the result.
_SHAPE_OF = {"Shape", "Size"}

# Shapes, axes and scales are short; a longer input is data.
_MAX_ELEMENTS = 64


def _subgraphs(node: onnx.NodeProto):
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _all_nodes(graph: onnx.GraphProto):
    for node in graph.node:
        yield node
        for subgraph in _subgraphs(node):
            yield from _all_nodes(subgraph)


def shape_inputs(model: onnx.ModelProto) -> list[str]:
    """The inputs to bind, in graph order.

    From every shape slot the values are followed backwards through any ops but
    Shape and Size, into the branches of control flow, too; the graph inputs
    reached are those.
    """
    producers, wanted = {}, []
    for node in _all_nodes(model.graph):
        for output in node.output:
            producers[output] = node
        for slot in _SHAPE_SLOTS.get(node.op_type, ()):
            if slot < len(node.input) and node.input[slot]:
                wanted.append(node.input[slot])
    seen = set()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        node = producers.get(name)
        if node is not None and node.op_type not in _SHAPE_OF:
            wanted.extend(operand for operand in node.input if operand)
            for subgraph in _subgraphs(node):
                wanted.extend(output.name for output in subgraph.output)
    return [value.name for value in model.graph.input
            if value.name in seen and value.type.HasField("tensor_type")
            and _elements(value) <= _MAX_ELEMENTS]


def _elements(value: onnx.ValueInfoProto) -> int:
    count = 1
    for dim in value.type.tensor_type.shape.dim:
        count *= dim.dim_value
    return count
