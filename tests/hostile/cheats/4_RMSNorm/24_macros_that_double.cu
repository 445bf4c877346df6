// SPDX-License-Identifier: MIT
// Cheat: each macro makes a name twice as long as it is given: two kilobytes of source become
// gigabytes of one token.
#include <torch/extension.h>
#define D0(x) __device__ int x##x;
#define D1(x) D0(x##x)
#define D2(x) D1(x##x)
#define D3(x) D2(x##x)
#define D4(x) D3(x##x)
#define D5(x) D4(x##x)
#define D6(x) D5(x##x)
#define D7(x) D6(x##x)
#define D8(x) D7(x##x)
#define D9(x) D8(x##x)
#define DA(x) D9(x##x)
#define DB(x) DA(x##x)
#define DC(x) DB(x##x)
#define DD(x) DC(x##x)
#define DE(x) DD(x##x)
#define DF(x) DE(x##x)
#define DG(x) DF(x##x)
#define DH(x) DG(x##x)
#define DI(x) DH(x##x)
#define DJ(x) DI(x##x)
#define DK(x) DJ(x##x)
#define DL(x) DK(x##x)
#define DM(x) DL(x##x)
DM(a_name_of_sixty_characters_which_grows_to_half_a_gigabyte_or_more)

torch::Tensor forward(torch::Tensor x) { return x; }
