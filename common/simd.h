// The instruction sets of this processor. Inner loops are compiled once for each of these levels,
// and all of a program's loops run at the same one, so that a run can name it.
//
// The level is the fastest that the processor has. It can be lowered (`--simd`, or AGENTR_SIMD in
// the environment), so that one machine tests and measures all of its levels. Results of different
// levels differ by rounding.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "common/named_values.h"

namespace agentr {

class OptionSet;

// From slow to fast, for one architecture. Portable: what every processor of the architecture has
// (SSE2 on x86-64). Instructions that change no result are used within a level where they are
// present, such as products of bytes (VNNI). AMX: AVX-512 with bfloat16, VNNI, and tiles of both.
enum class Simd { kPortable, kNeon, kAvx2, kAvx512, kAvx512Bf16, kAmx };

inline constexpr std::array<NamedValue<Simd>, 6> kSimdNames = {{{"portable", Simd::kPortable},
                                                                {"neon", Simd::kNeon},
                                                                {"avx2", Simd::kAvx2},
                                                                {"avx512", Simd::kAvx512},
                                                                {"avx512bf16", Simd::kAvx512Bf16},
                                                                {"amx", Simd::kAmx}}};
constexpr std::string_view Name(Simd simd) { return NameOf(kSimdNames, simd); }

// The levels of this processor, the fastest last.
const std::vector<Simd>& AvailableSimd();

// The level of this program. Throws FatalError(kUsage) if AGENTR_SIMD names none of this processor.
Simd ActiveSimd();

struct SimdOptions {
  std::string level = "auto";  // a name of kSimdNames, or auto
};

void Declare(OptionSet& set, SimdOptions& options);

// Sets the level by its name; "auto": that of AGENTR_SIMD, else the fastest. To be called before
// loops run. Throws FatalError(kUsage), with the levels that there are, for a name that is none of
// them.
void SetSimd(const std::string& name);

// The level, the processor's name and its number of cores for this process, for logs and run.json:
// "avx2 (AMD EPYC, 2 cores)".
std::string DescribeProcessor();

}  // namespace agentr
