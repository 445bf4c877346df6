# SPDX-License-Identifier: MIT
"""Calls of a module candidate by KernelBench's rules (--kb-compat), in the candidate's own process.

module_host.failure_of turns its exceptions into a cause and a message.
"""

import torch

from kbench_worker import kernelbench_rules
from kbench_worker.module_host import (CandidateFailure, check_output, device_of, forward,
                                       structure_of)


def names_of(module):
    """The names that a problem's file defines. In KernelBench the candidate's file runs with
    them."""
    return {name: value for name, value in vars(module).items()
            if not name.startswith(("__", "kbench_"))}


def replaces_constants(names, module):
    """True if a candidate has changed constants of its problem.

    KernelBench would have drawn the inputs with the changed constants.
    """
    plain = (bool, int, float, str)
    own = vars(module)
    return any(type(value) in plain and type(own.get(name)) in plain and own[name] != value
               for name, value in names.items())


def call(model, arguments, device, state):
    """(output, outcomes) of one call, with the random generators in that state.

    `outcomes`: for an output that KernelBench accepts, its outcomes by kbench's own rules.
    """
    kernelbench_rules.set_random_state(state, device)
    result = forward(model, arguments)
    if isinstance(result, (tuple, list)):
        raise CandidateFailure("not_a_tensor", f"ModelNew returns a {structure_of(result)}, but "
                               "KernelBench compares one tensor")
    outcomes = []
    try:
        check_output(result)
    except CandidateFailure:
        if not isinstance(result, torch.Tensor) or result.layout is not torch.strided:
            raise
        outcomes.append("wrong_shape")
    wanted = torch.device(device_of(device)).type
    if result.device.type != wanted:
        # torch compares tensors of two devices if one of them has no dimension.
        if result.dim() > 0:
            raise CandidateFailure("wrong_device", f"ModelNew returns a tensor on {result.device}, "
                                   f"not on {wanted}")
        outcomes.append("wrong_dtype")
    return result, outcomes
