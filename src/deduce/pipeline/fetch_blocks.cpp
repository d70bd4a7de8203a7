#include "deduce/pipeline/fetch_blocks.hpp"

#include <algorithm>
#include <cstddef>

namespace gputomo::deduce {
namespace {

/// Instructions of the largest block that is tried, more than any known instruction cache line holds.
constexpr std::uint64_t kMostInstructions = 64;

/// Samples that blocks of `size` bytes explain, with the start of the blocks that explains most.
std::size_t explained_by(const std::vector<FetchSample>& samples, std::uint64_t size, std::uint64_t unit) {
    std::size_t best = 0;
    for (std::uint64_t first = 0; first < size; first += unit) {
        const auto right = std::ranges::count_if(
            samples, [&](const auto& sample) { return (sample.offset % size == first) == sample.waited; });
        best = std::max(best, static_cast<std::size_t>(right));
    }
    return best;
}

/// With fewer waits no block is reported: a few random samples may share an alignment.
constexpr std::size_t kFewestWaits = 16;
/// Share of the waits that may lie elsewhere than at the start of a block: delays of another cause. A share of 0.5 or
/// more would accept blocks of twice the size. Chosen by hand.
constexpr double kOutliers = 0.03;

}  // namespace

std::uint64_t largest_block_of_waits(std::span<const FetchSample> samples, std::uint64_t unit) {
    std::vector<std::uint64_t> waits;
    for (const auto& sample : samples)
        if (sample.waited) waits.push_back(sample.offset);
    if (waits.size() < kFewestWaits) return 0;
    std::uint64_t block = 0;
    for (std::uint64_t size = 2 * unit; size <= kMostInstructions * unit; size *= 2) {
        const auto at_start = std::ranges::count_if(waits, [size](std::uint64_t offset) { return offset % size == 0; });
        if (static_cast<double>(at_start) < (1 - kOutliers) * static_cast<double>(waits.size())) break;
        block = size;
    }
    return block;
}

FetchBlocks fetch_blocks(std::span<const std::vector<FetchSample>> kernels, std::uint64_t unit) {
    FetchBlocks found;
    std::size_t waits = 0, others = 0;
    for (const auto& samples : kernels)
        for (const auto& sample : samples) ++(sample.waited ? waits : others);
    if (waits == 0) return found;
    for (std::uint64_t size = unit; size <= kMostInstructions * unit; size += unit) {
        std::size_t explained = 0;
        for (const auto& samples : kernels) explained += explained_by(samples, size, unit);
        if (explained > found.explained) {
            found.runner_up = found.explained;
            found.explained = explained;
            found.sizes.clear();
        } else if (explained < found.explained) {
            found.runner_up = std::max(found.runner_up, explained);
        }
        if (explained == found.explained) found.sizes.push_back(size);
    }
    // Large blocks predict that hardly any instruction is waited for. They explain most samples of any kernel, so they
    // count only if they explain half of the waits too.
    if (found.explained < others + (waits + 1) / 2) found.sizes.clear();
    return found;
}

}  // namespace gputomo::deduce
