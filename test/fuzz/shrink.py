#===- shrink.py - make a failing graph small -------------------------------===#
"""Greedy reduction: fewer outputs, earlier outputs, inputs in place of nodes."""

import copy

import numpy as np
import onnx
from onnx import helper

import reference


def _prune(model: onnx.ModelProto) -> onnx.ModelProto:
    """Drop nodes, weights and inputs that no output needs."""
    graph = model.graph
    needed = {value.name for value in graph.output}
    kept = []
    for node in reversed(graph.node):
        if needed & set(node.output):
            kept.append(node)
            needed |= set(node.input)
    kept.reverse()
    for field, keep in ((graph.node, kept),
                        (graph.initializer, [w for w in graph.initializer if w.name in needed]),
                        (graph.input, [i for i in graph.input if i.name in needed])):
        keep = [copy.deepcopy(item) for item in keep]
        del field[:]
        field.extend(keep)
    return model


def _infos(model: onnx.ModelProto) -> dict[str, onnx.ValueInfoProto]:
    graph = onnx.shape_inference.infer_shapes(model).graph
    return {value.name: value for value in [*graph.input, *graph.value_info, *graph.output]}


def _every_value(model: onnx.ModelProto, feeds: dict) -> dict[str, np.ndarray]:
    """All results of all nodes."""
    full = copy.deepcopy(model)
    infos = _infos(model)
    del full.graph.output[:]
    names = [name for node in model.graph.node for name in node.output if name]
    full.graph.output.extend(infos[name] for name in names)
    return dict(zip(names, reference.execute(full, feeds)))


def _candidates(model: onnx.ModelProto, feeds: dict):
    """(model, feeds) pairs that are smaller, the smallest first."""
    infos, values = _infos(model), _every_value(model, feeds)
    found = []
    wanted = [[name] for node in model.graph.node for name in node.output]
    outputs = [value.name for value in model.graph.output]
    if len(outputs) > 1:
        wanted += [[o for o in outputs if o != dropped] for dropped in outputs]
    for names in wanted:
        other = copy.deepcopy(model)
        del other.graph.output[:]
        other.graph.output.extend(infos[name] for name in names)
        found.append((_prune(other), feeds))
    for node in model.graph.node:
        if len(node.output) != 1 or node.output[0] in outputs:
            continue
        other = copy.deepcopy(model)
        name = node.output[0]
        kept = [n for n in other.graph.node if name not in n.output]
        del other.graph.node[:]
        other.graph.node.extend(kept)
        other.graph.input.append(infos[name])
        found.append((_prune(other), {**feeds, name: values[name]}))

    def weigh(pair):
        return len(pair[0].graph.node), len(pair[0].graph.output)
    return sorted((pair for pair in found if weigh(pair) < weigh((model, feeds))), key=weigh)


def shrink(case, status: str, run):
    """The smallest graph found that ends in the same status."""
    best, round_number = case, 0
    while True:
        tries = []
        for number, (model, feeds) in enumerate(_candidates(best.model, best.feeds)):
            feeds = {value.name: feeds[value.name] for value in model.graph.input}
            try:
                tried = type(case)(f"{case.name}-small-{round_number}-{number}", case.mode, model,
                                   feeds)
            except Exception:  # ONNX Runtime has no kernel for it
                continue
            if tried.answer.bound is not None:
                tries.append(tried)
        results = run(tries)
        failing = [t for t in tries if results[t.name].status == status]
        for tried in tries:
            if tried not in failing[:1]:
                tried.remove()
        if not failing:
            return best
        best, round_number = failing[0], round_number + 1
