"""Writes the shapes that a BERT's graph computes in each run into the graph.

An exporter turns "as many heads as fit" into a dozen small operators a layer:
the shape of a tensor is read, taken apart and put together again for each
reshape, and where attention scales queries and keys by their width, that is read
from a shape, too. None of it depends on the text. ONNX Runtime replaces what it
recognises, which fails where quantisation stands between a shape and the
tensor it is of. Here two forms are replaced, whatever the names are:

- a reshape to [dimension 0 of some tensor, dimension 1 of it, …, numbers] becomes
  one to [0, 0, …, numbers], where 0 copies the dimension of what is reshaped. The
  tensors must agree in these dimensions, batch and sequence; cut.py's comparison
  shows that they do.
- a factor computed from the last number of such a reshape becomes a number.

What nothing reads any more is left out.
"""

import numpy as np
from onnx import ModelProto, NodeProto, checker, helper, numpy_helper

_FOLDED = {
    "Sqrt": lambda node, x: np.sqrt(x),
    "Div": lambda node, x, y: np.divide(x, y, dtype=x.dtype),
    "Cast": lambda node, x: x.astype(helper.tensor_dtype_to_np_dtype(node.attribute[0].i)),
}


class _Graph:
    def __init__(self, model: ModelProto):
        self.nodes = list(model.graph.node)
        self.producer = {name: node for node in self.nodes for name in node.output}
        self.numbers = {w.name: numpy_helper.to_array(w) for w in model.graph.initializer}
        for node in self.nodes:
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                self.numbers[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        self.made: dict[str, np.ndarray] = {}

    def made_by(self, name: str, kind: str) -> NodeProto | None:
        node = self.producer.get(name)
        return node if node is not None and node.op_type == kind else None

    def number(self, value: np.ndarray, what: str) -> str:
        name = f"fixed_{what}_{len(self.made)}"
        self.made[name] = self.numbers[name] = value
        return name

    def dimension(self, name: str) -> int | None:
        """Which dimension of some tensor a part of a shape is, or None."""
        whole = self.made_by(name, "Unsqueeze")
        taken = whole and self.made_by(whole.input[0], "Gather")
        if not taken or not self.made_by(taken.input[0], "Shape") or taken.input[1] not in self.numbers:
            return None
        return int(self.numbers[taken.input[1]])

    def shape(self, name: str) -> np.ndarray | None:
        """What a reshape's target is with 0 for a dimension that stays, or None."""
        joined = self.made_by(name, "Concat")
        target: list[int] = []
        for part in joined.input if joined else ():
            if part in self.numbers:
                target += self.numbers[part].ravel().tolist()
            elif self.dimension(part) == len(target):
                target.append(0)
            else:
                return None
        return np.array(target, np.int64) if target else None

    def value(self, name: str) -> np.ndarray | None:
        """The value of a factor that is the same in every run, or None."""
        if name in self.numbers:
            return self.numbers[name]
        node = self.producer.get(name)
        if node is None:
            return None
        if node.op_type == "Slice":
            return self.last_dimension(node)
        if node.op_type not in _FOLDED:
            return None
        inputs = [self.value(i) for i in node.input]
        if any(v is None for v in inputs):
            return None
        return _FOLDED[node.op_type](node, *inputs)

    def last_dimension(self, cut: NodeProto) -> np.ndarray | None:
        """The end of the shape of a tensor that was reshaped to it, or None."""
        shape = self.made_by(cut.input[0], "Shape")
        start = self.numbers.get(cut.input[1])
        tensor = shape.input[0] if shape else ""
        while (turned := self.made_by(tensor, "Transpose")) and turned.attribute[0].ints[-1] == len(turned.attribute[0].ints) - 1:
            tensor = turned.input[0]
        reshaped = self.made_by(tensor, "Reshape")
        if start is None or start.ravel().tolist() != [-1] or not reshaped or reshaped.input[1] not in self.numbers:
            return None
        last = self.numbers[reshaped.input[1]][-1:]
        return last if last > 0 else None


def _used(nodes: list[NodeProto], outputs: set[str]) -> list[NodeProto]:
    kept, wanted = [], set(outputs)
    for node in reversed(nodes):  # a graph lists a node before those that read it
        if not wanted.isdisjoint(node.output):
            kept.append(node)
            wanted.update(node.input)
    return kept[::-1]


def fixed_shapes(model: ModelProto) -> ModelProto:
    """A copy of the model without what computes known shapes. Equal models give
    equal copies; one that computes none comes back as it is."""
    fixed = ModelProto()
    fixed.CopyFrom(model)
    g = _Graph(fixed)
    for node in g.nodes:
        if node.op_type == "Reshape" and (target := g.shape(node.input[1])) is not None:
            node.input[1] = g.number(target, "shape")
    for node in g.nodes:
        for i, name in enumerate(node.input if node.op_type == "Mul" else ()):
            if name not in g.numbers and (factor := g.value(name)) is not None:
                node.input[i] = g.number(factor, "factor")
    if not g.made:
        return fixed
    kept = [NodeProto.FromString(n.SerializeToString()) for n in _used(g.nodes, {o.name for o in fixed.graph.output})]
    fixed.graph.ClearField("node")
    fixed.graph.node.extend(kept)
    fixed.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in g.made.items())
    checker.check_model(fixed, full_check=True)
    return fixed
