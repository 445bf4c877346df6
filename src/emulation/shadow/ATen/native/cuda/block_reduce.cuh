// SPDX-License-Identifier: MIT
// Of the device side alone: means nothing in a host half.
#pragma once
