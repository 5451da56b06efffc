// The used parts of c10d's Gloo, and all assumptions about its versions (1.13 of Debian 12, 2.6 of
// Debian 13): only calls that all of them have.
#pragma once

#define USE_C10D_GLOO 1  // LibTorch is built with it; its header asks for this
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
