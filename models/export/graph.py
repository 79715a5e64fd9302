"""The ONNX graph of a SPLADE encoder, built from a BertForMaskedLM checkpoint.

Inputs input_ids, attention_mask and token_type_ids are int64 [batch, sequence];
the output, weights, is float32 [batch, vocabulary]:

    weights[b, w] = log(1 + relu(max over the tokens t of text b of logit[b, t, w]))

(SPLADE-max, Formal et al. 2021, "SPLADE v2"; the logits are those of the masked
language model.) The bias, ReLU and log never change which token has the
largest logit of a word, so they come after the maximum: once a word, not once
a word and token, and with the same result.

The product with the vocabulary, 93 % of a small model's arithmetic, is in int8
or, on request, in float32. Everything else is float32.

Shapes are declared where ONNX cannot infer them, since ONNX Runtime fuses the
residual sums into its layer norms only where it knows that shapes agree.
"""

import math
from collections.abc import Iterator

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from bert import Config, Weights
from quantise import HIGHEST, quantised

OPSET = 20  # the first with Gelu
IR_VERSION = 10  # the oldest that has this opset

EMBEDDINGS = "bert.embeddings.word_embeddings.weight"
TRANSFORM = "cls.predictions.transform"

# The vocabulary product is cut into slices of this many words, and each slice
# is reduced to its maxima before the next is computed. The logits of a whole
# vocabulary (62 MB for 512 tokens) never exist: 8 MB do, which a cache can
# hold. Measured on one core against one product: equal at 6 tokens, 32 texts of
# 150 take 250 MB rather than 920.
#
# A row of a slice is 255 cache lines, an odd number, since the runtime takes
# maxima down the columns: with rows of 4,096 words a column's lines all fall into
# the same sets of a cache and push each other out. A maximum then takes 3.8 times
# as long, a run of 128 tokens 1.45 times; results are the same bits.
VOCABULARY_SLICE = 4080


class _Graph:
    """Nodes and constants in the order they were asked for, so that equal
    checkpoints give equal bytes."""

    def __init__(self):
        self.nodes = []
        self.constants = {}

    def constant(self, name: str, value: np.ndarray) -> str:
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def integers(self, *values: int) -> str:
        return self.constant("int64:" + ",".join(map(str, values)), np.array(values, np.int64))

    def number(self, value: float) -> str:
        return self.constant(f"float32:{value:.9g}", np.float32(value))

    def op(self, kind: str, *inputs: str, output: str = "", **attributes) -> str:
        return self.ops(kind, 1, *inputs, outputs=[output] if output else None, **attributes)[0]

    def ops(self, kind: str, count: int, *inputs: str, outputs=None, **attributes) -> list[str]:
        name = f"{kind}_{len(self.nodes)}"
        outputs = outputs or [f"{name}:{i}" for i in range(count)]
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=name, **attributes))
        return outputs


class _Encoder:
    def __init__(self, config: Config, weights: Weights):
        self.config = config
        self.weights = weights
        self.graph = _Graph()
        self.declared = []

    def linear(self, x: str, name: str, inputs: int, outputs: int) -> str:
        g = self.graph
        weight = self.weights.get(f"{name}.weight", outputs, inputs)
        bias = self.weights.get(f"{name}.bias", outputs)
        product = g.op("MatMul", x, g.constant(f"{name}.weight", weight.T))
        return g.op("Add", product, g.constant(f"{name}.bias", bias))

    def layer_norm(self, x: str, name: str) -> str:
        g, hidden = self.graph, self.config.hidden
        scale = g.constant(f"{name}.weight", self.weights.get(f"{name}.weight", hidden))
        shift = g.constant(f"{name}.bias", self.weights.get(f"{name}.bias", hidden))
        return g.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=self.config.epsilon)

    def gelu(self, x: str) -> str:
        return self.graph.op("Gelu", x, approximate="none")

    def words(self) -> str:
        return self.graph.constant(EMBEDDINGS, self.weights.get(EMBEDDINGS, self.config.vocabulary, self.config.hidden))

    def embeddings(self) -> str:
        g, c, prefix = self.graph, self.config, "bert.embeddings"
        positions = self.weights.get(f"{prefix}.position_embeddings.weight", c.positions, c.hidden)
        types = self.weights.get(f"{prefix}.token_type_embeddings.weight", c.types, c.hidden)
        length = g.op("Shape", "input_ids", start=1, end=2)
        position = g.op(
            "Slice", g.constant("position_embeddings", positions), g.integers(0), length, g.integers(0), output="positions"
        )
        self.declared.append(helper.make_tensor_value_info(position, TensorProto.FLOAT, ["sequence", c.hidden]))
        word = g.op("Gather", self.words(), "input_ids")
        kind = g.op("Gather", g.constant("token_type_embeddings", types), "token_type_ids")
        return self.layer_norm(g.op("Add", g.op("Add", word, kind), position), f"{prefix}.LayerNorm")

    def mask(self) -> str:
        """0 where a token may be attended to, the lowest float32 where not."""
        g = self.graph
        wide = g.op("Cast", g.op("Unsqueeze", "attention_mask", g.integers(1, 2)), to=TensorProto.FLOAT)
        return g.op("Mul", g.op("Sub", g.number(1), wide), g.number(np.finfo(np.float32).min))

    def attention(self, x: str, mask: str, name: str) -> str:
        g, c = self.graph, self.config
        width = c.hidden // c.heads

        def heads(part: str, order: list[int]) -> str:
            flat = self.linear(x, f"{name}.self.{part}", c.hidden, c.hidden)
            return g.op("Transpose", g.op("Reshape", flat, g.integers(0, 0, c.heads, width)), perm=order)

        query, key, value = heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]), heads("value", [0, 2, 1, 3])
        scores = g.op("Div", g.op("MatMul", query, key), g.number(math.sqrt(width)))
        share = g.op("Softmax", g.op("Add", scores, mask), axis=-1)
        mixed = g.op("Transpose", g.op("MatMul", share, value), perm=[0, 2, 1, 3])
        return self.linear(g.op("Reshape", mixed, g.integers(0, 0, c.hidden)), f"{name}.output.dense", c.hidden, c.hidden)

    def layer(self, x: str, mask: str, name: str) -> str:
        g, c = self.graph, self.config
        attended = self.attention(x, mask, f"{name}.attention")
        x = self.layer_norm(g.op("Add", attended, x), f"{name}.attention.output.LayerNorm")
        inner = self.gelu(self.linear(x, f"{name}.intermediate.dense", c.hidden, c.intermediate))
        outer = self.linear(inner, f"{name}.output.dense", c.intermediate, c.hidden)
        return self.layer_norm(g.op("Add", outer, x), f"{name}.output.LayerNorm")

    def without_padding(self, x: str) -> str:
        """Padded rows replaced by row 0, which is never padding: a maximum is
        not changed by a second copy of one of its arguments. Masking the
        logits instead would touch vocabulary/hidden times as many numbers."""
        g = self.graph
        first = g.op("Slice", x, g.integers(0), g.integers(1), g.integers(1))
        real = g.op("Unsqueeze", g.op("Cast", "attention_mask", to=TensorProto.BOOL), g.integers(2))
        return g.op("Where", real, x, first)

    def slices(self) -> list[int]:
        vocabulary = self.config.vocabulary
        return [min(VOCABULARY_SLICE, vocabulary - at) for at in range(0, vocabulary, VOCABULARY_SLICE)]

    def largest(self, products: Iterator[str]) -> str:
        """Per text and word the largest of all tokens, of the products of
        halves(). Each is made when its turn comes: nodes run in their order."""
        g = self.graph
        largest = [g.op("ReduceMax", product, g.integers(1), keepdims=0) for product in products]
        first, second = g.ops("Split", 2, g.op("Concat", *largest, axis=1), axis=0, num_outputs=2)
        return g.op("Max", first, second)

    def float_logits(self, x: str) -> str:
        """The largest logits in float32. The transposed embeddings are a
        constant, which the runtime folds and packs at load; the file holds the
        matrix once.
        """
        g, c = self.graph, self.config
        x = self.without_padding(self.layer_norm(x, f"{TRANSFORM}.LayerNorm"))
        columns = g.op("Transpose", self.words(), perm=[1, 0])
        slices = g.ops("Split", len(self.slices()), columns, g.integers(*self.slices()), axis=1)
        rows = self.halves(x)
        largest = self.largest(g.op("MatMul", rows, part) for part in slices)
        bias = self.weights.get("cls.predictions.bias", c.vocabulary)
        return g.op("Add", largest, g.constant("cls.predictions.bias", bias))

    def int8_logits(self, x: str) -> str:
        """The largest logits by a product in int8.

        The layer norm's shift adds the same to a word's logit whatever the
        token, so it goes into the bias, in float32: what is left to be rounded
        is centred and smaller. One scale a text, not one a run, keeps texts
        that share a run apart; and since a scale a text and one a word change
        no order among the tokens, the maximum is taken of the sums in int32.
        """
        g, c = self.graph, self.config
        norm = f"{TRANSFORM}.LayerNorm"
        factor = g.constant(f"{norm}.weight", self.weights.get(f"{norm}.weight", c.hidden))
        shift = self.weights.get(f"{norm}.bias", c.hidden).astype(np.float64)
        x = self.without_padding(g.op("LayerNormalization", x, factor, axis=-1, epsilon=c.epsilon))

        highest = g.op("ReduceMax", g.op("Abs", x), g.integers(1, 2), keepdims=0)
        step = g.op("Unsqueeze", g.op("Mul", highest, g.number(1 / HIGHEST)), g.integers(1))
        whole = g.op("Round", g.op("Div", x, g.op("Unsqueeze", step, g.integers(2))))
        zero = HIGHEST + 1  # the activations are unsigned: the runtime is faster with them
        rows = self.halves(g.op("Cast", g.op("Add", whole, g.number(zero)), to=TensorProto.UINT8))
        words = self.weights.get(EMBEDDINGS, c.vocabulary, c.hidden)
        levels, scales = quantised(words)
        ends = np.cumsum(self.slices())[:-1]
        parts = [g.constant(f"head.{i}", part.T) for i, part in enumerate(np.split(levels, ends))]
        point = g.constant("head.zero_point", np.uint8(zero))
        largest = self.largest(g.op("MatMulInteger", rows, part, point) for part in parts)

        scaled = g.op("Mul", g.op("Cast", largest, to=TensorProto.FLOAT), step)
        shifted = words.astype(np.float64) * shift  # exact, as fsum is: equal bytes on every processor
        bias = self.weights.get("cls.predictions.bias", c.vocabulary) + np.array([math.fsum(row) for row in shifted])
        product = g.op("Mul", scaled, g.constant("head.scales", scales))
        return g.op("Add", product, g.constant("head.bias", bias.astype(np.float32)))

    def halves(self, x: str) -> str:
        """The first and the last half of each text's rows, one batch after the
        other; of an odd number both have the middle row, which no maximum
        notices. For a batch of one, ONNX Runtime takes a maximum over the rows
        on a path several times slower than for a batch of two. Measured on one
        core, bit-equal: 150 tokens 15.0 to 8.9 ms, 512 tokens 53.6 to 30.5.
        """
        g = self.graph
        length = g.op("Shape", x, start=1, end=2)
        half = g.op("Div", g.op("Add", length, g.integers(1)), g.integers(2))
        first = g.op("Slice", x, g.integers(0), half, g.integers(1))
        last = g.op("Slice", x, g.op("Neg", half), g.integers(np.iinfo(np.int64).max), g.integers(1))
        return g.op("Concat", first, last, axis=0)

    def build(self, int8: bool) -> None:
        g, c = self.graph, self.config
        x, mask = self.embeddings(), self.mask()
        for i in range(c.layers):
            x = self.layer(x, mask, f"bert.encoder.layer.{i}")
        x = self.gelu(self.linear(x, f"{TRANSFORM}.dense", c.hidden, c.hidden))
        logits = self.int8_logits(x) if int8 else self.float_logits(x)
        g.op("Log", g.op("Add", g.op("Relu", logits), g.number(1)), output="weights")


def splade(config: Config, weights: Weights, int8: bool) -> onnx.ModelProto:
    """The checked model, its head in int8 or in float32. Equal checkpoints give
    equal models, byte for byte."""
    encoder = _Encoder(config, weights)
    encoder.build(int8)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("weights", TensorProto.FLOAT, ["batch", config.vocabulary])
    graph = helper.make_graph(
        encoder.graph.nodes,
        "splade",
        inputs,
        [output],
        initializer=list(encoder.graph.constants.values()),
        value_info=encoder.declared,
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="braid",
    )
    onnx.checker.check_model(model, full_check=True)
    return model
