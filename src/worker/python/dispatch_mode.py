# SPDX-License-Identifier: MIT
"""A dispatch mode that traces operators without torch's compiler."""

import contextlib
import sys

from torch.utils._python_dispatch import TorchDispatchMode

# The setting that makes the compiler inline a mode into compiled models.
_INLINES = "inline_torch_dispatch_torch_compile"


class DispatchMode(TorchDispatchMode):
    """A mode that does not import torch's compiler just to be excluded from it.

    That import takes two to five seconds of a process at the first operator. If the compiler is
    already imported, compiled models run under the mode, and the mode is not inlined into them.
    """

    @classmethod
    def _should_skip_dynamo(cls):
        return False

    def __enter__(self):
        self._as_written = contextlib.ExitStack()
        config = getattr(sys.modules.get("torch._dynamo"), "config", None)
        if hasattr(config, _INLINES):
            self._as_written.enter_context(config.patch({_INLINES: False}))
        return super().__enter__()

    def __exit__(self, *error):
        with self._as_written:
            return super().__exit__(*error)
