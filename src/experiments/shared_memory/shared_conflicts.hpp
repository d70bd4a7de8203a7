// Latency of one warp's loads from shared memory when its threads want words of one bank, and the banks that follow
// from it.
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
    std::int64_t row_words = 1;      ///< words of a bank that are served together, `banks` words apart
    std::int64_t conflict_cost = 0;  ///< cycles of each further way
    std::int64_t access_group = 0;   ///< threads whose words are served together
};

/// What pairs of threads show, whatever the numbers; nothing where no two words within `kFarthestWord` stand in each
/// other's way.
///  - Two threads read word 0 and word d. The first costly d is the first word of the next row of bank 0; the costly
///  ones after it without a gap are
///    as many as a bank is wide; where the next such run begins is the next word of bank 0. (Kepler's 8-byte banks: d =
///    64, 65, 128, 129; its 4-byte mode: d = 64, 96, 128: Mei 2014, Figs. 4 to 6.)
///  - Two threads of a warp do that while all others read a word of another bank: it costs a way if the two are of one
///  group.
[[nodiscard]] std::optional<Banks> deduce_banks(const PatternLatency& latency, std::uint32_t warp_size);

/// Farthest word of a pair: a row of 64 banks of 16 bytes.
inline constexpr std::uint32_t kFarthestWord = 256;

/// Latency against stride, 0 to 64 words (Mei 2014, Listing 1).
[[nodiscard]] results::Trace stride_trace(const PatternLatency& latency, std::uint32_t warp_size);

}  // namespace gputomo::experiments
