#include "deduce/pipeline/fetch_blocks.hpp"

#include <algorithm>

namespace gputomo::deduce {
namespace {

/// More instructions than the largest line holds.
constexpr std::uint64_t kMostInstructions = 64;

std::size_t explained_by(const std::vector<FetchSample>& places, std::uint64_t size, std::uint64_t unit) {
    std::size_t best = 0;
    for (std::uint64_t first = 0; first < size; first += unit) {
        const auto right = std::ranges::count_if(
            places, [&](const auto& place) { return (place.offset % size == first) == place.waited; });
        best = std::max(best, static_cast<std::size_t>(right));
    }
    return best;
}

/// Waits that say nothing together, and the share of them that may be accidents.
constexpr std::size_t kFewestWaits = 16;
constexpr double kAccidents = 0.03;

}  // namespace

std::uint64_t largest_block_of_waits(std::span<const FetchSample> places, std::uint64_t unit) {
    std::vector<std::uint64_t> waits;
    for (const auto& place : places)
        if (place.waited) waits.push_back(place.offset);
    if (waits.size() < kFewestWaits) return 0;
    std::uint64_t block = 0;
    for (std::uint64_t size = 2 * unit; size <= kMostInstructions * unit; size *= 2) {
        const auto at_begin = std::ranges::count_if(waits, [size](std::uint64_t offset) { return offset % size == 0; });
        if (static_cast<double>(at_begin) < (1 - kAccidents) * static_cast<double>(waits.size())) break;
        block = size;
    }
    return block;
}

FetchBlocks fetch_blocks(std::span<const std::vector<FetchSample>> kernels, std::uint64_t unit) {
    FetchBlocks found;
    std::size_t waits = 0, others = 0;
    for (const auto& places : kernels)
        for (const auto& place : places) ++(place.waited ? waits : others);
    if (waits == 0) return found;
    for (std::uint64_t size = unit; size <= kMostInstructions * unit; size += unit) {
        std::size_t explained = 0;
        for (const auto& places : kernels) explained += explained_by(places, size, unit);
        if (explained > found.explained) {
            found.runner_up = found.explained;
            found.explained = explained;
            found.sizes.clear();
        } else if (explained < found.explained) {
            found.runner_up = std::max(found.runner_up, explained);
        }
        if (explained == found.explained) found.sizes.push_back(size);
    }
    // Large blocks say that hardly any place waits, which a few accidents don't contradict.
    if (found.explained < others + (waits + 1) / 2) found.sizes.clear();
    return found;
}

}  // namespace gputomo::deduce
