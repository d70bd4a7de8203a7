// Banks of shared memory, from the latency of a warp's loads whose threads access one bank.
#pragma once

#include "experiments/experiment.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gputomo::experiments {

/// Latency in cycles of a load by a warp whose thread i reads the 4-byte word at offsets[i] (bytes).
using PatternLatency = std::function<double(const std::vector<std::uint32_t>& offsets)>;

struct Banks {
    std::int64_t banks = 0;
    std::int64_t bank_width = 0;     ///< bytes
    std::int64_t row_words = 1;      ///< words of a bank, `banks` words apart, that one access serves together
    std::int64_t conflict_cost = 0;  ///< cycles of each further conflicting word
    std::int64_t access_group = 0;   ///< threads whose words one access serves
};

/// Banks from pairs of conflicting words, without assumptions about numbers. Returns nullopt if no two words within
/// `kFarthestWord` conflict.
///  - Two threads read word 0 and word d. The first d that conflicts is the first word of the next row of bank 0. The
///    number of conflicting words that follow it without a gap is the width of a bank. The next run of conflicting
///    words begins at the next word of bank 0. (Kepler's 8-byte banks: d = 64, 65, 128, 129; its 4-byte mode: d = 64,
///    96, 128: Mei 2014, Figs. 4 to 6.)
///  - Two threads of a warp read conflicting words while all others read a word of another bank. This costs a conflict
///    if one access serves both threads: they belong to one access group.
[[nodiscard]] std::optional<Banks> deduce_banks(const PatternLatency& latency, std::uint32_t warp_size);

/// Farthest word of a pair: a row of 64 banks of 16 bytes.
inline constexpr std::uint32_t kFarthestWord = 256;

/// Latency against stride, 0 to 64 words (Mei 2014, Listing 1).
[[nodiscard]] results::Trace stride_trace(const PatternLatency& latency, std::uint32_t warp_size);

}  // namespace gputomo::experiments
