# SPDX-License-Identifier: MIT
"""A first look at a module candidate, in a process without a GPU: what does it want built?"""

import torch

from kbench_worker import module_host
from kbench_worker.module_extension import ScoutStop

# Functions of torch.nn.init that draw values.
_DRAWING = ("kaiming_normal_", "kaiming_uniform_", "normal_", "orthogonal_", "sparse_",
            "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_")
_SMALL = 1 << 16


def _draw_nothing():
    """In a scout nobody looks at a model's values; drawing those of a large one takes seconds, and
    so does touching its memory for the first time."""
    torch.set_num_threads(1)

    def filled(tensor, *_, **__):
        with torch.no_grad():
            return tensor.fill_(0.01) if tensor.numel() <= _SMALL else tensor

    for name in _DRAWING:
        setattr(torch.nn.init, name, filled)


def scout(path, source, folder, request_compile, init_arguments=None, inputs=None, names=None):
    """Runs a candidate as far as it goes without what it wants built: (stage, cause, sentence).

    `request_compile` notes the requests and returns None. Stages: "import", "init", "forward",
    "end"; the cause is empty where the candidate only waits for a build or nothing went wrong.
    """
    stage = "import"
    _draw_nothing()
    try:
        module = module_host.load_candidate(path, source, folder, request_compile, names)
        if init_arguments is not None:
            stage = "init"
            model = module_host.build_model(module, init_arguments, "cuda", "native", 0,
                                            redraw=False)
            if inputs is not None:
                stage = "forward"
                module_host.call(model, inputs)
        return "end", "", ""
    except ScoutStop:
        return stage, "", ""
    except module_host.CandidateFailure as failure:
        return stage, failure.cause, str(failure)
