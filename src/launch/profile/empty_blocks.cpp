#include "launch/profile/empty_blocks.hpp"

#include <algorithm>
#include <deque>
#include <random>
#include <utility>

namespace gputomo::launch {
namespace {

/// Blocks to look at before all of them are. Where one in ten is empty, they miss all of these in 1 of 160 launches.
constexpr int kFirstLooks = 48;

}  // namespace

std::optional<std::vector<bool>> find_empty_blocks(std::uint64_t blocks, std::uint64_t seed,
                                                   const std::function<std::optional<bool>(std::uint64_t)>& ends) {
    std::mt19937_64 random(seed);
    int empty_ones = 0;
    for (int i = 0; i < kFirstLooks; ++i) {
        const auto ended = ends(random() % blocks);
        if (!ended) return std::nullopt;
        empty_ones += *ended ? 1 : 0;
    }
    if (empty_ones == 0 || empty_ones == kFirstLooks) return std::nullopt;
    std::vector<bool> empty(blocks);
    for (std::uint64_t block = 0; block < blocks; ++block) {
        const auto ended = ends(block);
        if (!ended) return std::nullopt;
        empty[block] = *ended;
    }
    return empty;
}

std::vector<std::vector<std::uint64_t>> blocks_by_sm(const std::vector<bool>& empty, std::uint64_t sms,
                                                     std::uint64_t blocks_of_sm) {
    std::vector<std::vector<std::uint64_t>> by_sm(sms);
    std::deque<std::uint64_t> free, taken;  // SMs, each as often as it has room for a block, or runs one
    for (std::uint64_t i = 0; i < blocks_of_sm; ++i)
        for (std::uint64_t sm = 0; sm < sms; ++sm) free.push_back(sm);
    for (std::uint64_t block = 0; block < empty.size(); ++block) {
        if (free.empty()) std::swap(free, taken);
        const std::uint64_t sm = free.front();
        free.pop_front();
        if (empty[block]) {
            free.push_back(sm);
            continue;
        }
        by_sm[sm].push_back(block);
        taken.push_back(sm);
    }
    return by_sm;
}

}  // namespace gputomo::launch
