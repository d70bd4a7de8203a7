// The kernels with which a launch is measured, in PTX.
#pragma once

#include "device/device.hpp"

#include <string>

namespace gputomo::answer {

/// What a reader of the clock leaves in memory.
struct Stamp {
    std::uint64_t nanoseconds = 0;  ///< of the GPU's global timer
    std::uint64_t cycles = 0;       ///< of the clock of an SM
    std::uint64_t sm = 0;
};

/// A module with five entries. `stamp` (address) leaves a Stamp. `delay` (address, cycles) leaves one at its start and
/// one at its end. `flush` (begin, end, address, step) reads memory. `code` (address) executes kCodeInstructions
/// different instructions once. `empty` does nothing.
[[nodiscard]] std::string measure_ptx(const device::Device::PtxTarget& target);

/// More than the instruction caches of an SM and of its neighbours hold.
inline constexpr int kCodeInstructions = 12'000;

/// Bytes that a thread of `flush` loads at once.
inline constexpr std::uint64_t kFlushLoad = 16;

}  // namespace gputomo::answer
