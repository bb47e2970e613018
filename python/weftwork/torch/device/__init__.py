"""The device ``"weftwork"`` of PyTorch: torch's PrivateUse1, over the host's memory.

Importing :mod:`weftwork.torch` gives the name; what it needs is built and loaded at the first use (:mod:`.build`).
"""

from __future__ import annotations

import torch

from ...errors import ExecutionError
from .ready import is_ready, set_up

__all__ = ["NAME", "is_ready", "register_device", "set_up"]

NAME = "weftwork"


def register_device() -> None:
    """Makes ``"weftwork"`` a device of PyTorch. ``import weftwork.torch`` does it where torch has no accelerator of its own.

    Where it has one, say a GPU, call this: torch takes the device of an extension for *the* accelerator of the process
    (``torch.accelerator``), which nobody should be surprised by. Raises an ExecutionError where another extension has the place.

    >>> import torch, weftwork.torch
    >>> weftwork.torch.register_device()
    >>> torch.ones(2, device="weftwork").sum().item()
    2.0
    """
    name = torch._C._get_privateuse1_backend_name()
    if name == NAME:
        return
    if name != "privateuseone":
        raise ExecutionError(
            f"torch has one place for the device of an extension, and '{name}' has it  [torch_device_place]"
        )
    from . import module

    torch.utils.rename_privateuse1_backend(NAME)
    torch._register_device_module(NAME, module)
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    torch._C._get_accelerator = accelerator


#: As torch answers it: by an error, while a device has a name and no native part.
ask_for_accelerator = torch._C._get_accelerator


def accelerator(*check: bool) -> torch.device:
    """What ``torch.distributed.barrier``, FSDP and ``torch.get_device_module`` ask torch for: the CPU, until the device is set up."""
    return ask_for_accelerator(*check) if is_ready() else torch.device("cpu")


def register_where_free() -> None:
    """Registers the device unless there is an accelerator already."""
    if not torch.accelerator.is_available() and torch._C._get_privateuse1_backend_name() == "privateuseone":
        register_device()
