# SPDX-License-Identifier: MIT
"""The dry import of a module candidate, in a process without a GPU: finds the builds that it
requests."""

import signal

import torch

from kbench_worker import light_meta, module_cpu, module_host
from kbench_worker.module_extension import DryImportStop

# Functions of torch.nn.init that draw values.
_DRAWING = ("kaiming_normal_", "kaiming_uniform_", "normal_", "orthogonal_", "sparse_",
            "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_")
_SMALL = 1 << 16
_FORWARD_LIMIT_S = 5


def _draw_nothing():
    """Disables drawing of weights, because a dry import does not use values. For a large model,
    drawing takes seconds, and so does the first write to its memory."""
    torch.set_num_threads(1)

    def filled(tensor, *_, **__):
        with torch.no_grad():
            return tensor.fill_(0.01) if tensor.numel() <= _SMALL else tensor

    for name in _DRAWING:
        setattr(torch.nn.init, name, filled)


class _Late(BaseException):
    """Raised if a forward without values takes too long."""


def _ring(signum, frame):
    raise _Late


def _goes_through_forward(model, draw_inputs):
    """Calls the model once on shapes, for the builds that it requests. False if it stopped to wait
    for a build.

    Errors are ignored: the code may read values, which shapes lack.
    """
    module_cpu.forget_values()
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, _FORWARD_LIMIT_S)
    try:
        with light_meta.without_compiler():
            model.to("cuda")(*draw_inputs())
    except DryImportStop:
        return False
    except (Exception, SystemExit, _Late):
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return True


def dry_import(path, source, folder, request_compile, init_arguments=None, draw_inputs=None, names=None,
          changes=None, by_kernelbench=False):
    """Runs a candidate as far as possible without its builds. Returns (stage, cause, message).

    `request_compile` records the requests and returns None. Stages: "import", "init", "forward",
    "end". The cause is empty if the candidate only waits for a build, or nothing failed. With
    `draw_inputs`, a candidate that mentions cpp_extension but has not requested a build is called
    once.
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
    except DryImportStop:
        return stage, "", ""
    except module_host.CandidateFailure as failure:
        return stage, failure.cause, str(failure)
