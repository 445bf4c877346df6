# SPDX-License-Identifier: MIT
# Honest: a child in a session of its own computes some rows into memory that both share, while the
# parent computes the others, and is waited for.
import mmap
import os

import torch
import torch.nn as nn

ROWS = 16


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        rows = scores[:ROWS].cpu()  # a GPU's memory does not survive a fork
        shared = torch.frombuffer(mmap.mmap(-1, rows.nbytes), dtype=torch.float32)
        child = os.fork()
        if child == 0:
            os.setsid()
            torch.set_num_threads(1)
            torch.softmax(rows, dim=-1, out=shared.view(rows.shape))
            os._exit(0)
        out = torch.softmax(scores, dim=-1)
        os.waitpid(child, 0)
        out[:ROWS] = shared.view(rows.shape).to(scores.device)
        return out
