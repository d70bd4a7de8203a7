// Kernels of the pointer chase and the layout of what they leave behind.
#pragma once

#include "measure/chase/pointer_chase.hpp"

namespace gputomo::measure {

/// `wanted_sm` of a chase that may run anywhere.
inline constexpr std::uint32_t kAnySm = 0xffff'ffff;
/// Results: u32 claim flag, u32 begin, u32 end, padding, u64 last address, u32 sum of the low halves of what the
/// recorded loads returned, u32 nobody reads; then the records.
inline constexpr std::int64_t kHeaderBytes = 32, kSumOffset = 24;
/// A record: u16 cycles, kLongestReading where they are more. Small ones, since caches that a launch empties have to be
/// filled for each launch again.
inline constexpr std::int64_t kRecordBytes = 2;
inline constexpr std::uint32_t kLongestReading = 0xffff;

/// What a module may have of constants.
inline constexpr Bytes kConstantBytes{64 * 1024};

/// Links: u64 addresses, or for `texels` other than 0 u32 numbers of texels from there on.
[[nodiscard]] ptx::KernelBuilder link_writer_kernel(ptx::Target target);
/// The constants that a chase with LoadHint::constant follows.
[[nodiscard]] ptx::ModuleArray constant_array();
/// Results of interference_kernel: u32 each.
struct InterferenceResults {
    std::uint32_t own_claim = 0, rival_claim = 0;
    std::uint32_t phase = 0;  ///< 1: the own array has been walked through, 2: the rival's, too
    std::uint32_t begin = 0, end = 0;
    std::uint32_t done = 0;                        ///< 1: both blocks took part
    std::uint32_t rival_begin = 0, rival_end = 0;  ///< of the rival's last lap
};
static_assert(sizeof(InterferenceResults) % 8 == 0);  // addresses are stored behind it

inline constexpr int kInterferenceUnroll = 8;
/// A block on one SM walks through its array, then one on another SM through its own, each lap timed, then the first
/// again, timed.
[[nodiscard]] ptx::KernelBuilder interference_kernel(ptx::Target target, LoadHint hint);
/// Stores where the array begins, in the addresses of constants.
[[nodiscard]] ptx::KernelBuilder constant_base_kernel(ptx::Target target);

}  // namespace gputomo::measure
