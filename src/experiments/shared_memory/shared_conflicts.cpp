#include "experiments/shared_memory/shared_conflicts.hpp"

#include "units/statistics.hpp"

#include <cmath>

namespace gputomo::experiments {
namespace {

constexpr std::uint32_t kWordBytes = 4;
constexpr std::uint32_t kLargestStride = 64;  ///< words: twice the number of banks of any GPU so far
/// Cycles by which equal latencies may differ: less than one.
constexpr double kSame = 0.75;

std::vector<std::uint32_t> strided_offsets(std::uint32_t threads, std::uint32_t stride) {
    std::vector<std::uint32_t> offsets;
    for (std::uint32_t thread = 0; thread < threads; ++thread) offsets.push_back(thread * stride * kWordBytes);
    return offsets;
}

/// Thread 0 reads word 0, thread `other` (0: none) the word `distance` bytes later, and all others one word of the next
/// bank.
std::vector<std::uint32_t> pair_offsets(std::uint32_t threads, std::uint32_t other, std::uint32_t distance,
                                        std::uint32_t next_bank) {
    std::vector<std::uint32_t> offsets(threads, next_bank);
    offsets[0] = 0;
    if (other != 0) offsets[other] = distance;
    return offsets;
}

class PairTests {
public:
    explicit PairTests(const PatternLatency& latency) : latency_(latency), free_(steady({0, kWordBytes})) {}

    /// Median of several readings, because one of them may be an outlier.
    [[nodiscard]] double steady(const std::vector<std::uint32_t>& offsets) const {
        std::vector<double> readings;
        for (int i = 0; i < kReadings; ++i) readings.push_back(latency_(offsets));
        return median(readings);
    }

    [[nodiscard]] bool costly(std::uint32_t word) const {
        const std::vector<std::uint32_t> pair{0, word * kWordBytes};
        return latency_(pair) > free_ + kSame && steady(pair) > free_ + kSame;
    }

    /// The next word from `word` on that conflicts, or that does not; nothing if there is none before `end`.
    [[nodiscard]] std::optional<std::uint32_t> next(std::uint32_t word, std::uint32_t end, bool wanted) const {
        for (; word <= end; ++word)
            if (costly(word) == wanted) return word;
        return std::nullopt;
    }

private:
    /// The fewest of which a median leaves out one outlier.
    static constexpr int kReadings = 3;
    const PatternLatency& latency_;
    double free_;
};

}  // namespace

std::optional<Banks> deduce_banks(const PatternLatency& latency, std::uint32_t warp_size) {
    const PairTests pairs(latency);
    const auto row = pairs.next(1, kFarthestWord, true);
    if (!row) return std::nullopt;
    const auto after = pairs.next(*row, 2 * *row, false);
    const auto again = after ? pairs.next(*after, 2 * *row, true) : std::nullopt;
    if (!again) return std::nullopt;
    const auto width = static_cast<std::int64_t>(*after) - *row;
    const auto period = static_cast<std::int64_t>(*again) - *row;  // words from one word of a bank to the next one
    Banks banks{.banks = period / width,
                .bank_width = width * kWordBytes,
                .row_words = *row / period,
                .access_group = warp_size};
    const std::uint32_t distance = *row * kWordBytes;
    const auto next_bank = static_cast<std::uint32_t>(banks.bank_width);
    const double alone = pairs.steady(pair_offsets(warp_size, 0, distance, next_bank));
    banks.conflict_cost = std::llround(pairs.steady(pair_offsets(warp_size, 1, distance, next_bank)) - alone);
    for (std::uint32_t thread = 1; thread < warp_size; ++thread) {
        if (pairs.steady(pair_offsets(warp_size, thread, distance, next_bank)) > alone + kSame) continue;
        banks.access_group = thread;
        break;
    }
    return banks;
}

results::Trace stride_trace(const PatternLatency& latency, std::uint32_t warp_size) {
    results::Trace trace{.name = "shared_latency/strides", .experiment = "shared_latency"};
    trace.columns = {{"stride", "words", {}}, {"latency", "cycles", {}}};
    trace.plot = {"Shared memory: latency of a warp's load against stride", "stride", {"latency"}, false, false};
    for (std::uint32_t stride = 0; stride < kLargestStride; ++stride)
        trace.add_row(stride, latency(strided_offsets(warp_size, stride)));
    return trace;
}

}  // namespace gputomo::experiments
