"""Runs torch's own samples of operations (OpInfo) through the backend: forward, then backward, against eager.

    python tests/torch_ops/run.py [--samples N] [--only NAME,NAME] [--reasons] [--dynamic]

Every operation counts once: native (one program, no call of torch), draws (torch draws random numbers, the rest is native),
fallback (right, with other calls of torch), no graph (torch itself
cannot trace it), wrong, or crash. Exit code 1 where any is wrong or crashes.
"""

from __future__ import annotations

import argparse
import collections
import sys
import warnings

import torch
from functorch.compile import aot_function, min_cut_rematerialization_partition
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten

from weftwork.torch.compiled import compiled_graph, left_to_torch
from weftwork.torch.decompose import decompositions
from weftwork.torch.kinds import is_random

ORDER = ["native", "draws", "fallback", "no graph", "wrong", "crash"]


class Crash(Exception):
    """An exception of the backend, or of a program."""


class Checker:
    """Runs samples; notes which operations fell back, and why."""

    def __init__(self, dynamic: bool = False) -> None:
        self.dynamic = dynamic
        self.reasons: collections.Counter = collections.Counter()
        self.draws = self.fell_back = False

    def compiler(self, module, inputs):
        graph = compiled_graph(module, "op")
        left = left_to_torch(graph.schedule)
        self.fell_back |= bool(left)
        self.draws |= any(is_random(node) for nodes in graph.schedule.calls.values() for node in nodes)
        for node in left:
            self.reasons[(str(node.target), graph.schedule.refused.get(node, ""))] += 1

        def guarded(args):
            try:
                return graph(args)
            except Exception as error:
                raise Crash(f"{type(error).__name__}: {error}") from error

        guarded._boxed_call = True
        return guarded

    def check(self, op, sample):
        """'right', 'no graph' or what is wrong."""
        leaves, structure = tree_flatten(((sample.input, *sample.args), sample.kwargs))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        tensors = [leaves[i] for i in places]

        def function(*given):
            filled = list(leaves)
            for i, tensor in zip(places, given, strict=True):
                filled[i] = tensor
            (x, *args), kwargs = torch.utils._pytree.tree_unflatten(filled, structure)
            # What is left open, such as signs of singular vectors, is taken off results.
            return sample.output_process_fn_grad(op(x, *args, **kwargs))

        fresh = lambda: [
            t.detach().clone().requires_grad_(t.requires_grad) if t.is_contiguous() else like(t) for t in tensors
        ]
        try:
            torch.manual_seed(42)
            wanted = results(function, fresh())
        except Exception:
            return "no graph"
        compiled = aot_function(
            function,
            fw_compiler=self.compiler,
            bw_compiler=self.compiler,
            decompositions=decompositions(),
            partition_fn=min_cut_rematerialization_partition,
            dynamic=self.dynamic,
        )
        try:
            torch.manual_seed(42)
            given = results(compiled, fresh())
        except Crash as crash:
            return f"crash: {crash}"
        except Exception as error:
            if "weftwork" in str(type(error)) or any("weftwork" in f for f in frames_of(error)):
                return f"crash: {type(error).__name__}: {error}"
            return "no graph"
        told = difference(given, wanted, op.name)
        if told != "right":
            # Tracing draws from the generator, too: what counts is a call of what is compiled. 42 is what torch's samples seed with.
            torch.manual_seed(42)
            given = results(compiled, fresh())
            told = difference(given, wanted, op.name)
        if told != "right" and is_nearer(given, wanted, function, fresh()):
            return "right"
        if told != "right":
            # Where torch's own graph is wrong, there is none to judge by.
            plain = aot_function(function, fw_compiler=lambda module, inputs: module, dynamic=self.dynamic)
            torch.manual_seed(42)
            told = told if difference(results(plain, fresh()), wanted, op.name) == "right" else "no graph"
        return told


def frames_of(error):
    found, trace = [], error.__traceback__
    while trace is not None:
        found.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    return found


def like(tensor):
    """A leaf in the same layout."""
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
    if any(s == 0 and e > 1 for s, e in zip(tensor.stride(), tensor.shape, strict=True)):
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)
    made.copy_(tensor.detach())
    return made.requires_grad_(tensor.requires_grad)


def results(function, tensors):
    """What a function gives, and the gradients of the sum of it."""
    outputs = [t for t in tree_flatten(function(*tensors))[0] if isinstance(t, torch.Tensor)]
    found = [o.detach() for o in outputs]
    smooth = [o for o in outputs if o.requires_grad and o.numel()]
    leaves = [t for t in tensors if t.requires_grad]
    if smooth and leaves:
        total = sum((o.abs() if o.is_complex() else o).double().sum() for o in smooth)
        found += torch.autograd.grad(total, leaves, allow_unused=True)
    return found


def is_nearer(given, wanted, function, tensors):
    """Whether results are as near to those in double precision as eager's are, but for a factor of 2."""
    if not all(t.dtype in (torch.float32, torch.complex64) for t in [*tensors, *(w for w in wanted if w is not None)]):
        return False
    exact = results(
        function,
        [t.detach().to(torch.promote_types(t.dtype, torch.float64)).requires_grad_(t.requires_grad) for t in tensors],
    )
    if not len(exact) == len(given) == len(wanted):
        return False
    far = lambda found, e: (found.to(e.dtype) - e).abs().max() if e.numel() else 0
    return all(far(g, e) <= 2 * far(w, e) + 2e-4 for g, w, e in zip(given, wanted, exact, strict=True) if e is not None)


#: Elements of these have no values.
EMPTY = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"}


def difference(given, wanted, name):
    if len(given) != len(wanted):
        return f"wrong: {len(given)} results for {len(wanted)}"
    for i, (g, w) in enumerate(zip(given, wanted, strict=True)):
        if (g is None) != (w is None):
            # A gradient of zeros may be none.
            if (g if w is None else w).count_nonzero():
                return f"wrong: result {i} is {g}, not {w}"
            continue
        if g is None:
            continue
        if g.shape != w.shape or g.dtype != w.dtype:
            return f"wrong: result {i} is {g.dtype} {tuple(g.shape)}, not {w.dtype} {tuple(w.shape)}"
        if g.layout != torch.strided or w.is_quantized or name in EMPTY:
            continue
        if not torch.allclose(g, w, rtol=2e-4, atol=2e-4, equal_nan=True):
            return f"wrong: result {i} differs by {(g.double() - w.double()).abs().nan_to_num().max().item() if not g.is_complex() else '?'}"
    return "right"


def verdict(op, samples: int, checker: Checker):
    """The word for an operation, and what was found where it is wrong."""
    checker.draws = checker.fell_back = False
    found = set()
    for count, sample in enumerate(op.sample_inputs("cpu", torch.float32, requires_grad=op.supports_autograd)):
        if count == samples:
            break
        told = checker.check(op, sample)
        if told.startswith(("wrong", "crash")):
            return told.split(":")[0], f"sample {count + 1}: {told}"
        found.add(told)
    if "right" not in found:
        return "no graph", ""
    return ("fallback" if checker.fell_back else "draws" if checker.draws else "native"), ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=6)
    parser.add_argument("--only", default="")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--stop", type=int, default=1 << 30)
    parser.add_argument("--reasons", action="store_true")
    parser.add_argument("--dynamic", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    only = set(filter(None, options.only.split(",")))
    chosen = [op for op in op_db if torch.float32 in op.supported_dtypes("cpu") and (not only or op.name in only)]
    chosen = chosen[options.start : options.stop]
    checker, counts, names = Checker(options.dynamic), collections.Counter(), collections.defaultdict(list)
    for op in chosen:
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        word, detail = verdict(op, options.samples, checker)
        counts[word] += 1
        names[word].append(name)
        if word in ("wrong", "crash"):
            print(f"{word:9} {name}: {detail[:300]}", flush=True)
    if options.reasons:
        for (target, reason), count in checker.reasons.most_common():
            print(f"{count:5}  {target}: {reason[:160]}")
        print("fallback:", " ".join(names["fallback"]))
        print("no graph:", " ".join(names["no graph"]))
    print(
        " ".join(f"{word} {counts[word]} ({100 * counts[word] / max(len(chosen), 1):.0f} %)" for word in ORDER),
        f"of {len(chosen)} operations",
    )
    return 1 if counts["wrong"] or counts["crash"] else 0


if __name__ == "__main__":
    sys.exit(main())
