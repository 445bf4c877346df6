# SPDX-License-Identifier: MIT
"""What watches operators without torch's compiler."""

import contextlib
import sys

from torch.utils._python_dispatch import TorchDispatchMode

# Whether it compiles what a mode does beside what a model has compiled.
_INLINES = "inline_torch_dispatch_torch_compile"


class DispatchMode(TorchDispatchMode):
    """One that does not import the compiler to keep it out.

    With the first operator that takes two to five seconds of a process. Where it has been imported
    already, what a model compiles runs under the mode as it is written.
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
