# SPDX-License-Identifier: MIT
# Honest: two threads add to one sum per row, one after the other by a lock.
import threading

import torch
import torch.nn as nn

lock = threading.Lock()


def add(sums, part):
    own = part.sum(dim=-1, keepdim=True)
    with lock:
        sums.add_(own)


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
