// The quantities that a performance engineer asks for first: leaves of the description, and results of several leaves.
#pragma once

#include "report/parts/text.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace gputomo::report {

/// A leaf of the first screen and the words below its value.
struct Headline {
    std::string_view path;
    std::string_view label;
};
[[nodiscard]] std::span<const Headline> headlines();

/// This leaf has a card only where it is empty: the cards of L1 and L2 are then missing.
inline constexpr std::string_view kGlobalCaches = "paths.global.caches";

/// Warps per SM that keep DRAM busy when each thread has one 4-byte load in flight: latency x the SM's share of the
/// bandwidth / 128 bytes (Little's law; Volkov 2016, 3.4).
[[nodiscard]] std::optional<double> warps_for_memory(const Facts& facts);

/// Warps per SM that keep its FP32 units busy when each thread has one add in flight: latency x throughput. Dual issue
/// is left out, because adds that depend on each other do not issue together (Volkov 2016, 4.1).
[[nodiscard]] std::optional<double> warps_for_arithmetic(const Facts& facts);

/// Bytes that DRAM delivers for each FP32 add that the SMs execute: bandwidth over the add throughput of all SMs
/// (Volkov 2016, 4.4). The bandwidth is that of the pins, or else the measured one of reads.
[[nodiscard]] std::optional<double> bytes_per_add(const Facts& facts);

/// DRAM latency in nanoseconds.
[[nodiscard]] std::optional<double> memory_nanoseconds(const Facts& facts);

}  // namespace gputomo::report
