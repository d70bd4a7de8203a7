#include "deduce/fetch_blocks.hpp"

#include <algorithm>

namespace gputomo::deduce {
namespace {

/// More instructions than the largest line holds.
constexpr std::uint64_t kMostInstructions = 64;

std::size_t explained_by(const std::vector<FetchPlace>& places, std::uint64_t size, std::uint64_t unit) {
    std::size_t best = 0;
    for (std::uint64_t first = 0; first < size; first += unit) {
        const auto right = std::ranges::count_if(places, [&](const auto& place) { return (place.offset % size == first) == place.waited; });
        best = std::max(best, static_cast<std::size_t>(right));
    }
    return best;
}

}  // namespace

FetchBlocks fetch_blocks(std::span<const std::vector<FetchPlace>> kernels, std::uint64_t unit) {
    FetchBlocks found;
    if (std::ranges::none_of(kernels, [](const auto& places) { return std::ranges::any_of(places, &FetchPlace::waited); })) return found;
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
    return found;
}

}  // namespace gputomo::deduce
