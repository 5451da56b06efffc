// How long the threads of OpenMP, with which LibTorch and OpenBLAS compute, wait for work.
#pragma once

namespace agentr {

// A waiting thread keeps its core busy at first, in the hope of work. The default of GNU OpenMP
// (300,000 looks) is so long that a program beside another one mostly waits: a training on two
// cores takes eight times as long beside one busy process. This sets 1,000 looks, which is as fast
// on a quiet machine, and for Clang's OpenMP none. OpenMP reads its settings when it is loaded, so
// a program that is linked to it starts once more, as the same process. Nothing happens where the
// user has set OMP_WAIT_POLICY, GOMP_SPINCOUNT or KMP_BLOCKTIME. Call it before other threads
// exist.
void ShortenOpenMpWaiting(char** argv);

}  // namespace agentr
