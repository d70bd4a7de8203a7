// What a performance engineer asks of a GPU first: leaves of the description, and what follows from several of them.
#pragma once

#include "report/parts/text.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace gputomo::report {

struct Headline {
    std::string_view path;
    std::string_view label;
};
[[nodiscard]] std::span<const Headline> headlines();

/// Worth a card where there are none, since the cards of L1 and L2 are missing then.
inline constexpr std::string_view kGlobalCaches = "paths.global.caches";

/// Warps of an SM that keep DRAM busy with one load of 4 bytes per thread in flight: latency x bandwidth of an SM / 128
/// bytes (Little's law; Volkov 2016, 3.4).
[[nodiscard]] std::optional<double> warps_for_memory(const Facts& facts);

/// Warps of an SM that keep its FP32 units busy with one add per thread in flight: latency x throughput. Without dual
/// issue, since adds that depend on each other are not issued together (Volkov 2016, 4.1).
[[nodiscard]] std::optional<double> warps_for_arithmetic(const Facts& facts);

/// Bytes that DRAM can bring in the time of one FP32 add of a thread: pin bandwidth, else what reads attained, over
/// adds of all SMs (Volkov 2016, 4.4).
[[nodiscard]] std::optional<double> bytes_per_add(const Facts& facts);

/// DRAM latency in nanoseconds.
[[nodiscard]] std::optional<double> memory_nanoseconds(const Facts& facts);

}  // namespace gputomo::report
