# SPDX-License-Identifier: MIT
"""What watches operators without torch's compiler."""

from torch.utils._python_dispatch import TorchDispatchMode


class DispatchMode(TorchDispatchMode):
    """One that the compiler need not be kept out of.

    Keeping it out imports it with the first operator, which takes two to five seconds of a process.
    What a model compiles runs under a mode as it is written.
    """

    @classmethod
    def _should_skip_dynamo(cls):
        return False
