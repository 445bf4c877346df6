# SPDX-License-Identifier: MIT
"""A first look at a module candidate, in a process without a GPU: what does it want built?"""

import signal

import torch

from kbench_worker import light_meta, module_cpu, module_host
from kbench_worker.module_extension import ScoutStop

# Functions of torch.nn.init that draw values.
_DRAWING = ("kaiming_normal_", "kaiming_uniform_", "normal_", "orthogonal_", "sparse_",
            "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_")
_SMALL = 1 << 16
_FORWARD_LIMIT_S = 5


def _draw_nothing():
    """A scout does not use a model's values; drawing those of a large one takes seconds, and
    so does touching its memory for the first time."""
    torch.set_num_threads(1)

    def filled(tensor, *_, **__):
        with torch.no_grad():
            return tensor.fill_(0.01) if tensor.numel() <= _SMALL else tensor

    for name in _DRAWING:
        setattr(torch.nn.init, name, filled)


class _Late(BaseException):
    """A forward without values takes too long."""


def _ring(signum, frame):
    raise _Late


def _goes_through_forward(model, draw_inputs):
    """Whether one call of the model, of shapes alone, came to an end: else it waits for a build.

    For what it orders on the way. An error says nothing of the candidate: code may look at values.
    """
    module_cpu.forget_values()
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, _FORWARD_LIMIT_S)
    try:
        with light_meta.without_compiler():
            model.to("cuda")(*draw_inputs())
    except ScoutStop:
        return False
    except (Exception, SystemExit, _Late):
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return True


def scout(path, source, folder, request_compile, init_arguments=None, draw_inputs=None, names=None,
          changes=None, by_kernelbench=False):
    """Runs a candidate as far as it goes without what it wants built: (stage, cause, sentence).

    `request_compile` notes the requests and returns None. Stages: "import", "init", "forward",
    "end"; the cause is empty where the candidate only waits for a build or nothing went wrong.
    With `draw_inputs`, one that speaks of building and has built nothing so far is called once.
    """
    stage = "import"
    ordered = []

    def order(request):
        ordered.append(request)
        return request_compile(request)

    _draw_nothing()
    try:
        module = module_host.load_candidate(path, source, folder, order, names, changes,
                                            by_kernelbench)
        if init_arguments is not None:
            stage = "init"
            model = module_host.build_model(module, init_arguments, "cuda", "native", 0,
                                            redraw=False)
            if draw_inputs is not None and not ordered and b"cpp_extension" in source:
                stage = "forward"
                with torch.no_grad():
                    if not _goes_through_forward(model, draw_inputs):
                        return stage, "", ""
        return "end", "", ""
    except ScoutStop:
        return stage, "", ""
    except module_host.CandidateFailure as failure:
        return stage, failure.cause, str(failure)
