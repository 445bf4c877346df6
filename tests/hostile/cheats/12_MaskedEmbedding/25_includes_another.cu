// SPDX-License-Identifier: MIT
// A plan of its own for the kernel of another candidate, which it includes from a folder nearby.
//@ dims tokens[B, L]
//@ dims table.weight[_, W]
//@ out y: float32[B, L, W]
//@ embed<<<B * L, 128>>>(tokens, keep, table.weight, y, W)
#include "../../honest/12_MaskedEmbedding/26_gather_reads_little.cu"
