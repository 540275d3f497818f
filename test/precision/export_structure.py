#===- export_structure.py - what an exported model must look like ----------===#
"""Checks of a model written by `--emit=onnx` against the one it came from."""

import collections

import onnx
from onnx import AttributeProto, TensorProto

LOW = (TensorProto.FLOAT16, TensorProto.BFLOAT16)


def subgraphs(node: onnx.NodeProto):
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == AttributeProto.GRAPHS:
            yield from attribute.graphs


def bodies(model: onnx.ModelProto):
    """Every list of nodes: the graph, its subgraphs, functions and theirs."""
    waiting = [model.graph, *model.functions]
    while waiting:
        body = waiting.pop()
        yield body
        for node in body.node:
            waiting.extend(subgraphs(node))


def cast_target(node: onnx.NodeProto) -> int | None:
    if node.op_type != "Cast" or node.domain not in ("", "ai.onnx"):
        return None
    return next(a.i for a in node.attribute if a.name == "to")


def check(model: onnx.ModelProto) -> None:
    """ONNX's own checker and strict shape inference; raises what they raise."""
    onnx.checker.check_model(model, full_check=True)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)


def _bare(node: onnx.NodeProto) -> tuple:
    """A node without its wiring and without what a subgraph or constant holds."""
    attributes = []
    for attribute in node.attribute:
        if attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
            attributes.append((attribute.name, "graph"))
        elif node.op_type != "Constant":
            attributes.append((attribute.name, attribute.SerializeToString(deterministic=True)))
    return node.name, node.op_type, node.domain, node.doc_string, tuple(attributes)


def kept(old: onnx.ModelProto, new: onnx.ModelProto, keeps_io: bool = True) -> list[str]:
    """What of `old` is missing in `new`, or stands in another order."""
    problems = []
    for field in ("ir_version", "producer_name", "producer_version", "domain", "model_version",
                  "doc_string"):
        if getattr(old, field) != getattr(new, field):
            problems.append(f"{field} differs")
    for field in ("opset_import", "metadata_props"):
        if list(getattr(old, field)) != list(getattr(new, field)):
            problems.append(f"{field} differs")
    weights = {tensor.name for tensor in [*old.graph.initializer, *new.graph.initializer]}
    for field in ("input", "output") if keeps_io else ():
        before, after = ([value for value in getattr(graph, field) if value.name not in weights]
                         for graph in (old.graph, new.graph))
        if before != after:
            problems.append(f"graph {field}s differ")
    problems += _kept_nodes(old.graph, new.graph, "graph")
    by_name = {function.name: function for function in new.functions}
    for function in old.functions:
        if function.name not in by_name:
            problems.append(f"function {function.name} is missing")
        else:
            problems += _kept_nodes(function, by_name[function.name], function.name)
    return problems


def _kept_nodes(old, new, where: str) -> list[str]:
    # New nodes have names that are not empty and that no old one has.
    names = {node.name for node in old.node} | {""}
    added = [node for node in new.node if node.name not in names]
    strange = [node for node in added if node.op_type not in ("Cast", "Constant")]
    rest = [node for node in new.node if not any(node is other for other in added)]
    if strange:
        return [f"{where}: new node {strange[0].op_type}"]
    before, after = [_bare(node) for node in old.node], [_bare(node) for node in rest]
    if len(before) != len(after):
        return [f"{where}: {len(before)} nodes became {len(after)}"]
    problems = []
    for node, (a, b) in zip(old.node, zip(before, after)):
        # A call may go to the form of its function that has its types.
        if a != b and not (b[1].startswith(a[1]) and a[:1] == b[:1]):
            problems.append(f"{where}: node {node.name or node.op_type} differs")
    for first, second in zip(old.node, rest):
        for a, b in zip(subgraphs(first), subgraphs(second)):
            problems += _kept_nodes(a, b, f"{where}/{first.name or first.op_type}")
    return problems


def element_types(model: onnx.ModelProto) -> dict[str, int]:
    """Name -> element type of every tensor outside functions."""
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    types = {}
    waiting = [inferred.graph]
    while waiting:
        graph = waiting.pop()
        for value in [*graph.input, *graph.output, *graph.value_info]:
            types[value.name] = value.type.tensor_type.elem_type
        types.update((tensor.name, tensor.data_type) for tensor in graph.initializer)
        for node in graph.node:
            waiting.extend(subgraphs(node))
    return types


def casts(old: onnx.ModelProto, new: onnx.ModelProto) -> list[str]:
    """Casts of `new` that `old` has not and that need not be there."""
    known = {node.name for body in bodies(old) for node in body.node}
    types = element_types(new)
    producers = {name: node for body in bodies(new) for node in body.node
                 for name in node.output}
    problems = []
    for body in bodies(new):
        seen = collections.Counter()
        read = collections.Counter(
            [name for node in body.node for name in node.input]
            + [value if isinstance(value, str) else value.name for value in body.output])
        for node in body.node:
            for graph in subgraphs(node):
                read.update(name for inner in graph.node for name in inner.input)
                read.update(value.name for value in graph.output)
        for node in body.node:
            target = cast_target(node)
            if target is None or node.name in known:
                continue
            source = types.get(node.input[0])
            seen[node.input[0], target] += 1
            if seen[node.input[0], target] > 1:
                problems.append(f"{node.input[0]} is cast twice")
            if source == target:
                problems.append(f"{node.name} casts to the type that its operand has")
            if not read[node.output[0]] and not _reads_deep(body, node.output[0]):
                problems.append(f"{node.name} is read by nobody")
            before = producers.get(node.input[0])
            if before is not None and cast_target(before) == TensorProto.FLOAT and \
                    types.get(before.input[0]) == target and target in LOW:
                problems.append(f"{before.name} and {node.name} are an exact pair")
    return problems


def _reads_deep(body, name: str) -> bool:
    for node in body.node:
        for graph in subgraphs(node):
            if any(name in inner.input for inner in graph.node) or \
                    any(value.name == name for value in graph.output) or \
                    _reads_deep(graph, name):
                return True
    return False
