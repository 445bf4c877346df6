# SPDX-License-Identifier: MIT
# Cheat: has no answer, and writes kbench's own message to its judge, that it cannot run here. The
# nonce is that of the process's answer to its first call, by a descriptor that was exchanged.
import os
import socket
import stat
import struct

import torch
import torch.nn as nn

FAILED, UNSUPPORTED = 84, 3
HEADER = "<IHHIIQ"


def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False


def forge(answers, judge):
    header = answers.recv(struct.calcsize(HEADER), socket.MSG_WAITALL)
    magic, *_, nonce = struct.unpack(HEADER, header)
    body = struct.pack("<I60s960s", UNSUPPORTED, b"unsupported", b"a feature of sm_100 cannot run")
    judge.sendall(struct.pack(HEADER, magic, FAILED, 0, len(body), 0, nonce) + body)


class ModelNew(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        number = min(fd for fd in range(3, 64) if is_socket(fd))
        judge = socket.socket(fileno=os.dup(number))
        ours, theirs = socket.socketpair()
        os.dup2(theirs.fileno(), number)
        theirs.close()
        if os.fork() == 0:
            os.close(number)
            forge(ours, judge)
            os._exit(0)
        return scores
