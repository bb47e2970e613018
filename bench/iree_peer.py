"""IREE: the StableHLO text of our program, compiled for this CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.prepared import Prepared, Weights
from bench.workload import Workload, leaves


class Iree:
    def __init__(self, threads: int) -> None:
        import iree.compiler
        import iree.runtime

        import weftwork

        iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        self.compiler, self.runtime, self.trace = iree.compiler, iree.runtime, weftwork.trace
        self.config = iree.runtime.Config("local-task")

    def prepare(self, work: Workload, weights: Weights, args: tuple) -> Prepared:
        # Weights are arguments: as constants they would be text.
        given = args if weights is None else (weights, *args)
        text = self.trace(work.ours or work.numpy, *given).stablehlo()
        flags = ["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-input-demote-f64-to-f32=false"]
        code = self.compiler.compile_str(text, input_type="stablehlo", target_backends=["llvm-cpu"], extra_args=flags)
        context = self.runtime.SystemContext(config=self.config)
        module = self.runtime.VmModule.copy_buffer(context.instance, code)
        context.add_vm_module(module)
        name = next(name for name in module.function_names if not name.startswith("__"))
        function = context.modules[module.name][name]
        arrays = [leaf for leaf in leaves(list(given)) if isinstance(leaf, np.ndarray)]
        if work.numpy_in_and_out:
            return Prepared(lambda: function(*arrays).to_host(), lambda result: [result])
        placed = [self.runtime.asdevicearray(self.config.device, array) for array in arrays]
        hosts = lambda result: [np.asarray(leaf.to_host()) for leaf in leaves(self.results(result))]
        return Prepared(lambda: function(*placed), hosts)

    @staticmethod
    def results(result: Any) -> list[Any]:
        return list(result) if isinstance(result, (tuple, list)) else [result]
