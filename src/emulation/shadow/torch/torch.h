// SPDX-License-Identifier: MIT
// Means nothing here: the precompiled header has what candidates use of it.
#pragma once
