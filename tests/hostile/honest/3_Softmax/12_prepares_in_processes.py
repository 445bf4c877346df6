# SPDX-License-Identifier: MIT
# Honest: two processes prepare a table while the module is imported, and are awaited.
import os

import torch
import torch.nn as nn


def part(number):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, str(sum(range(number * 1000))).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as result:
        value = int(result.read())
    os.waitpid(child, 0)
    return value


TABLE = [part(number) for number in (1, 2)]


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        assert TABLE == [499500, 1999000]
        return torch.softmax(scores, dim=-1)
