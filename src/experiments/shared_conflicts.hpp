// Latency of one warp's loads from shared memory when its threads want words of one bank, and the banks that follow from it.
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
    std::int64_t bank_width = 0;    ///< bytes
    std::int64_t conflict_cost = 0; ///< cycles of each further way
    std::int64_t access_group = 0;  ///< threads whose words are served together
};

/// What stride patterns and pairs of threads show; nothing where no stride makes a conflict.
///  - Latency grows with power-of-two strides up to the stride that brings all threads to one bank: banks x width.
///  - The first of them that costs anything is twice the width of a bank (Kepler's 8-byte banks: a stride of 4 words).
///  - Two threads read two words of one bank, all others a word of another: it costs a way if the two are of one group.
[[nodiscard]] std::optional<Banks> deduce_banks(const PatternLatency& latency, std::uint32_t warp_size, std::uint32_t memory_bytes);

/// Latency against stride, 0 to 64 words (Mei 2014, Listing 1).
[[nodiscard]] deduce::Trace stride_trace(const PatternLatency& latency, std::uint32_t warp_size);

}  // namespace gputomo::experiments
