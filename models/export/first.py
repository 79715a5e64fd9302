"""Cuts the last layer of a BERT's graph down to the first token.

Where a model's answer is read from the first token alone, as with CLS pooling or
a classifier on top, the last layer needs keys and values of every token, but
queries, rows of attention, the product behind it, both layer norms and the
feed-forward part of the first one only. With x [batch, sequence, hidden], which
is what the layer reads, and

    x0 = x[:, 0:1]

keys and values are still made of x; the query, the residual sum and shapes are
made of x0, and of the mask the first row is taken. All else stays as it is, node
by node. A graph that gave [batch, sequence, hidden] then gives [batch, 1, hidden];
one that gave a logit still does.

A dynamically quantised graph quantises x0 and what follows from it with scales of
their own, taken over the first tokens and no longer over all of them. So its numbers
change by less than rounding did before.

Names of nodes play no part. The layer is found by its form: the last softmax, the
product of queries and keys before it, the one with the values behind it, and back
from each to the tensor x that they have in common. Another form is refused.
"""

import numpy as np
from onnx import ModelProto, NodeProto, checker, helper, numpy_helper

from bert import CheckpointError

FIRST = "first_token"  # the name of x0; what is new in the graph has it in its name
_INDEX = f"{FIRST}_index"

_PRODUCTS = {"MatMul", "MatMulInteger"}

# What may lie between a product with weights and the attention.
_BETWEEN = {"Add", "Mul", "Div", "Cast", "Reshape", "Transpose"}

# What may be made of x0: operators that work on each token by itself, or on shapes.
_BY_TOKEN = {
    *_PRODUCTS, *_BETWEEN, "Sub", "Pow", "Sqrt", "Erf", "Tanh", "Gelu", "ReduceMean", "LayerNormalization", "Softmax",
    "DynamicQuantizeLinear", "Shape", "Gather", "Slice", "Concat", "Unsqueeze",
}  # fmt: skip


class _Graph:
    def __init__(self, model: ModelProto):
        self.nodes = list(model.graph.node)
        self.weights = {w.name for w in model.graph.initializer}
        self.producer = {name: node for node in self.nodes for name in node.output}
        self.consumers: dict[str, list[NodeProto]] = {}
        for node in self.nodes:
            for name in node.input:
                self.consumers.setdefault(name, []).append(node)

    def only_consumer(self, name: str, kind: str) -> NodeProto:
        found = self.consumers.get(name, [])
        if [node.op_type for node in found] != [kind]:
            raise CheckpointError(f"{name} goes to {[node.op_type for node in found]}, want one {kind}")
        return found[0]

    def back(self, name: str, kinds: set[str], through: set[str]) -> NodeProto:
        """The node of one of the kinds from which the tensor comes, with nothing
        but the operators of through between them. Of several inputs of one of these
        it follows the only one that comes from another such operator or product:
        the others are weights, scales and shapes."""
        while True:
            node = self.producer.get(name)
            if node is not None and node.op_type in kinds:
                return node
            if node is None or node.op_type not in through:
                what = f"{node.op_type} {node.name}" if node else f"the weight or input {name}"
                raise CheckpointError(f"{what} where one of {sorted(kinds)} is expected beside the last softmax")
            found = [i for i in node.input if self.leads_to_product(i)]
            if len(found) != 1:
                raise CheckpointError(f"{node.op_type} {node.name} beside the last softmax reads {found}, want one tensor of tokens")
            name = found[0]

    def leads_to_product(self, name: str) -> bool:
        node = self.producer.get(name)
        if node is None or node.op_type not in _BETWEEN | _PRODUCTS:
            return False
        return node.op_type in _PRODUCTS or any(map(self.leads_to_product, node.input))

    def source(self, projection: NodeProto) -> str:
        """What a product with weights multiplies, before its quantisation."""
        if projection.input[1] not in self.weights:
            raise CheckpointError(f"{projection.op_type} {projection.name} before the last attention has no stored weights")
        if projection.op_type == "MatMul":
            return projection.input[0]
        return self.back(projection.input[0], {"DynamicQuantizeLinear"}, set()).input[0]

    def replace(self, node: NodeProto, old: str, new: str) -> None:
        node.input[:] = [new if name == old else name for name in node.input]


def _last_softmax(g: _Graph) -> NodeProto:
    found = [node for node in g.nodes if node.op_type == "Softmax"]
    if not found:
        raise CheckpointError("there is no Softmax: this is no transformer, or its attention is one operator")
    return found[-1]


def _projections(g: _Graph, last: NodeProto) -> list[NodeProto]:
    """The products that make query, key and value of the last layer."""
    scores = g.back(last.input[0], {"MatMul"}, {"Add", "Mul", "Div"})
    mixed = g.only_consumer(last.output[0], "MatMul")
    return [g.back(name, _PRODUCTS, _BETWEEN) for name in (*scores.input, mixed.input[1])]


def _quantise_apart(g: _Graph, query: NodeProto) -> NodeProto:
    """Gives a quantised query's product a quantisation of x0 of its own."""
    shared = g.producer[query.input[0]]
    own = helper.make_node("DynamicQuantizeLinear", [FIRST], [f"{FIRST}_{part}" for part in ("quantized", "scale", "zero_point")], name=f"{FIRST}_quantize")
    scaled = g.only_consumer(g.only_consumer(query.output[0], "Cast").output[0], "Mul")
    scales = [g.producer[name] for name in scaled.input if name in g.producer and shared.output[1] in g.producer[name].input]
    if len(scales) != 1:
        raise CheckpointError(f"{scaled.name} does not multiply by the scale of {shared.name}")
    for old, new in zip(shared.output, own.output, strict=True):
        g.replace(query, old, new)
        g.replace(scales[0], old, new)
    return own


def _cut_mask(g: _Graph, last: NodeProto) -> NodeProto:
    """Takes the first row of the mask [batch, 1, rows, sequence], which may have a
    row a token, all equal, or one for all."""
    masked = g.back(last.input[0], {"Add"}, {"Mul", "Div"})
    masks = [name for name in masked.input if not g.leads_to_product(name)]
    if len(masks) != 1:
        raise CheckpointError(f"{masked.name} before the last softmax reads the masks {masks}, want one")
    row = helper.make_node("Gather", [masks[0], _INDEX], [f"{FIRST}_mask"], name=f"{FIRST}_mask", axis=2)
    g.replace(masked, masks[0], row.output[0])
    return row


def _made_of(g: _Graph, start: str) -> set[str]:
    """The names of all tensors made of one, each by an operator that may be."""
    made = {start}
    for node in g.nodes:
        if made.isdisjoint(node.input):
            continue
        if node.op_type not in _BY_TOKEN:
            raise CheckpointError(f"{node.op_type} {node.name} in or behind the last layer is not known to work on each token by itself")
        made.update(node.output)
    return made


def first_token(model: ModelProto) -> ModelProto:
    """A copy of the model whose last layer is cut down. Equal models give equal
    copies."""
    cut = ModelProto()
    cut.CopyFrom(model)
    g = _Graph(cut)
    last = _last_softmax(g)
    query, key, value = _projections(g, last)
    sources = {g.source(projection) for projection in (query, key, value)}
    if len(sources) != 1:
        raise CheckpointError(f"query, key and value of the last layer are made of {sorted(sources)}, want one tensor: is it cut down already?")
    (x,) = sources
    if x not in g.producer or len(cut.graph.output) != 1:
        raise CheckpointError(f"want one output and a layer that reads no input: {x} is read and there are {len(cut.graph.output)} outputs")

    added = [helper.make_node("Gather", [x, _INDEX], [FIRST], name=FIRST, axis=1), _cut_mask(g, last)]
    keep = [key, value]
    if query.op_type == "MatMulInteger":
        keep.append(g.producer[query.input[0]])
        added.append(_quantise_apart(g, query))
    for node in g.consumers[x]:
        if not any(node is kept for kept in keep):
            g.replace(node, x, FIRST)
    at = next(i for i, node in enumerate(g.nodes) if x in node.output) + 1
    g.nodes[at:at] = added

    made = _made_of(g, FIRST)
    declared = [info for info in cut.graph.value_info if info.name not in made]
    (output,) = cut.graph.output
    if output.name not in made:
        raise CheckpointError(f"the output {output.name} is not made by the last layer")
    dimensions = output.type.tensor_type.shape.dim
    if len(dimensions) == 3:
        dimensions[1].Clear()
        dimensions[1].dim_value = 1
    for field, values in (("node", g.nodes), ("value_info", declared)):
        copies = [type(v).FromString(v.SerializeToString()) for v in values]
        cut.graph.ClearField(field)
        getattr(cut.graph, field).extend(copies)
    cut.graph.initializer.append(numpy_helper.from_array(np.array([0], np.int64), _INDEX))
    checker.check_model(cut, full_check=True)
    return cut
