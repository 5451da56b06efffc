// Options of ArCHer's critic, apart from the network that they build.
#pragma once

namespace agentr {

struct CriticOptions {
  double learning_rate = 2e-5;
  int updates = 50;        // optimiser steps in an iteration (online)
  int width = 768;         // of the heads' inner layers
  double tau = 0.1;        // of the target copy, after every step
  double expectile = 0.9;  // of V (offline)
};

}  // namespace agentr
