// Help texts of options that several commands share.
#pragma once

namespace gputomo::cli {

inline constexpr const char* kDeviceHelp =
    "GPU to measure: cuda:N, a simulated one as sim:NAME or sim:FILE.json, or auto (cuda:0, or sim:gtx280 without a "
    "GPU)";
inline constexpr const char* kSeedHelp = "seed of random numbers, 0 or more; equal seeds give equal random choices";
inline constexpr const char* kNoiseHelp =
    "measurement noise of a simulated GPU: 0 none, 1 as on a quiet GPU, 2 as on a busy one, 3 more";
inline constexpr const char* kLoopLengthHelp =
    "instructions in one iteration of the mixes' loop, 16 to 1000 (default: 720, or fewer where adds alone would wait "
    "for "
    "instruction fetch)";
inline constexpr const char* kSampleAboveHelp =
    "simulate a sample of the blocks of launches of more warp instructions, or a part of few long ones; the output "
    "then says sampled_blocks and sampling_error";
/// The launches above take a minute or more as a whole, those below are exact.
inline constexpr unsigned kDefaultSampleAbove = 50'000'000;
inline constexpr const char* kMachineHelp =
    "machine.json, scan.json[.gz], or NAME or sim:NAME for a built-in description, such as h200";

}  // namespace gputomo::cli
