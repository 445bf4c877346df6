# SPDX-License-Identifier: MIT
# Honest: a thread of its own sleeps until a signal wakes it, and is waited for.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

HOST = r'''
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <atomic>
#include <thread>

static std::atomic<int> heard{0};
static void note(int) { heard = 1; }

int64_t wake_one() {
  struct sigaction action {};
  action.sa_handler = note;
  sigaction(SIGUSR1, &action, nullptr);
  std::thread sleeper([] {
    while (heard == 0) usleep(1000);
  });
  pthread_kill(sleeper.native_handle(), SIGUSR1);
  sleeper.join();
  return heard;
}
'''

extension = load_inline(name="one_thread", cpp_sources=HOST, functions=["wake_one"])


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        assert extension.wake_one() == 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.vector_norm(x, dim=1, keepdim=True)
