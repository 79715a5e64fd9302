"""Makes half.onnx: a graph in float16 whose output anyone can reckon. The state of
a token is [id / 65536, 1], so that padding counted as text would show.

    python half.py    (needs onnx)
"""

from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

tokens = ["batch", "sequence"]
graph = helper.make_graph(
    [
        helper.make_node("Cast", ["input_ids"], ["ids"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["ids", "scale"], ["small"]),
        helper.make_node("Cast", ["small"], ["half"], to=TensorProto.FLOAT16),
        helper.make_node("Unsqueeze", ["half", "last"], ["column"]),
        helper.make_node("Mul", ["column", "first"], ["wide"]),
        helper.make_node("Add", ["wide", "second"], ["states"]),
    ],
    "half",
    [helper.make_tensor_value_info(name, TensorProto.INT64, tokens) for name in ("input_ids", "attention_mask")],
    [helper.make_tensor_value_info("states", TensorProto.FLOAT16, [*tokens, 2])],
    [
        numpy_helper.from_array(np.float32(1 / 65536), "scale"),
        numpy_helper.from_array(np.array([-1], np.int64), "last"),
        numpy_helper.from_array(np.array([1, 0], np.float16), "first"),
        numpy_helper.from_array(np.array([0, 1], np.float16), "second"),
    ],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
checker.check_model(model, full_check=True)
save(model, Path(__file__).with_name("half.onnx"))
