# SPDX-License-Identifier: MIT
# Two threads add to one sum per row, each by reading, thinking and writing: what one adds in
# between is lost.
import threading
import time

import torch
import torch.nn as nn


def add(sums, part):
    before = sums.clone()
    time.sleep(0.001)
    sums.copy_(before + part.sum(dim=-1, keepdim=True))


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
        sums = torch.zeros(scores.shape[0], 1, device=scores.device)
        threads = [threading.Thread(target=add, args=(sums, part))
                   for part in powers.chunk(2, dim=-1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return powers / sums
