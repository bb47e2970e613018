"""OpenVINO: the torch twin, converted with its weights as constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.prepared import Prepared, Weights, as_module, to_torch
from bench.workload import Workload, bf16, leaves, provide


class OpenVino:
    def __init__(self, threads: int) -> None:
        import openvino
        import torch

        provide(torch=torch, F=torch.nn.functional)
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self.openvino, self.core = openvino, openvino.Core()
        self.options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1}

    def prepare(self, work: Workload, weights: Weights, args: tuple) -> Prepared:
        tensors = tuple(to_torch(a) for a in args)
        model = self.openvino.convert_model(as_module(work, weights, clone=True), example_input=tensors)
        given = [a for a in args if isinstance(a, np.ndarray)]
        for port, array in zip(model.inputs, given):
            port.get_node().set_partial_shape(self.openvino.PartialShape(list(array.shape)))
        model.validate_nodes_and_infer_types()
        narrow = any(a.dtype == bf16 for a in [*given, *(weights or {}).values()])
        # It would compute in bfloat16 for float32 too, on CPUs that have it.
        options = {**self.options, "INFERENCE_PRECISION_HINT": "bf16" if narrow else "f32"}
        request = self.core.compile_model(model, "CPU", options).create_infer_request()
        for i, array in enumerate(given):
            request.set_input_tensor(i, self.tensor(array))
        outputs = [request.get_output_tensor(i) for i in range(len(model.outputs))]

        def run() -> list[Any]:
            request.infer()
            return outputs

        def run_arrays() -> np.ndarray:
            return request.infer(given, share_inputs=True, share_outputs=True)[0]

        return Prepared(
            run_arrays if work.numpy_in_and_out else run, lambda result: [self.array(a) for a in leaves(result)]
        )

    def tensor(self, array: np.ndarray) -> Any:
        """Over the same memory."""
        if array.dtype == bf16:
            shape = self.openvino.Shape(list(array.shape))
            return self.openvino.Tensor(array.view(np.uint16), shape, self.openvino.Type.bf16)
        return self.openvino.Tensor(array, shared_memory=True)

    def array(self, tensor: Any) -> np.ndarray:
        if isinstance(tensor, np.ndarray):
            return tensor
        return tensor.data.view(bf16) if tensor.element_type == self.openvino.Type.bf16 else tensor.data
