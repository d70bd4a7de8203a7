#include "experiments/shared_conflicts.hpp"

#include <cmath>

namespace gputomo::experiments {
namespace {

constexpr std::uint32_t kWordBytes = 4;
constexpr std::uint32_t kLargestStride = 64;  ///< words; twice the banks of any GPU so far
/// A difference of latencies that is none: less than a cycle.
constexpr double kSame = 0.75;

std::vector<std::uint32_t> strided_offsets(std::uint32_t threads, std::uint32_t stride) {
    std::vector<std::uint32_t> offsets;
    for (std::uint32_t thread = 0; thread < threads; ++thread) offsets.push_back(thread * stride * kWordBytes);
    return offsets;
}

/// Thread 0 reads word 0, thread `other` (0: none) the word `distance` bytes further, all others one word of the next bank.
std::vector<std::uint32_t> pair_offsets(std::uint32_t threads, std::uint32_t other, std::uint32_t distance, std::uint32_t next_bank) {
    std::vector<std::uint32_t> offsets(threads, next_bank);
    offsets[0] = 0;
    if (other != 0) offsets[other] = distance;
    return offsets;
}

}  // namespace

std::optional<Banks> deduce_banks(const PatternLatency& latency, std::uint32_t warp_size, std::uint32_t memory_bytes) {
    const double free = latency(strided_offsets(warp_size, 1));
    std::uint32_t first_costly = 0;
    std::uint32_t all_in_one = 1;
    double last = free;
    for (std::uint32_t stride = 2; stride * warp_size * kWordBytes <= memory_bytes && stride <= kLargestStride; stride *= 2) {
        const double now = latency(strided_offsets(warp_size, stride));
        if (now > last + kSame) all_in_one = stride;
        if (now > free + kSame && first_costly == 0) first_costly = stride;
        last = now;
    }
    if (first_costly == 0) return std::nullopt;
    Banks banks;
    banks.bank_width = first_costly * kWordBytes / 2;
    const std::uint32_t row = all_in_one * kWordBytes;  // bytes from a word to the next one of its bank
    banks.banks = row / banks.bank_width;
    const auto next_bank = static_cast<std::uint32_t>(banks.bank_width);
    const double alone = latency(pair_offsets(warp_size, 0, row, next_bank));
    banks.conflict_cost = std::llround(latency(pair_offsets(warp_size, 1, row, next_bank)) - alone);
    banks.access_group = warp_size;
    for (std::uint32_t thread = 1; thread < warp_size; ++thread) {
        if (latency(pair_offsets(warp_size, thread, row, next_bank)) > alone + kSame) continue;
        banks.access_group = thread;
        break;
    }
    return banks;
}

deduce::Trace stride_trace(const PatternLatency& latency, std::uint32_t warp_size) {
    deduce::Trace trace{.name = "shared_latency/strides", .experiment = "shared_latency"};
    trace.columns = {{"stride", "words", {}}, {"latency", "cycles", {}}};
    trace.plot = {"Shared memory: latency of a warp's load against stride", "stride", {"latency"}, false, false};
    for (std::uint32_t stride = 0; stride < kLargestStride; ++stride) {
        trace.columns[0].values.push_back(stride);
        trace.columns[1].values.push_back(latency(strided_offsets(warp_size, stride)));
    }
    return trace;
}

}  // namespace gputomo::experiments
