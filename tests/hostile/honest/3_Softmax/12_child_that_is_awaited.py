# SPDX-License-Identifier: MIT
# Honest: a child in a session of its own looks something up while the module is imported, and is
# waited for.
import os

import torch
import torch.nn as nn

reader, writer = os.pipe()
child = os.fork()
if child == 0:
    os.setsid()
    os.write(writer, str(os.cpu_count()).encode())
    os._exit(0)
os.waitpid(child, 0)
processors = int(os.read(reader, 16))


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return torch.softmax(scores, dim=-1)
