#include "launch/profile/empty_blocks.hpp"

#include "launch/profile/recorder.hpp"
#include "launch/profile/watched_run.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <random>
#include <utility>

namespace gputomo::launch {
namespace {

/// Blocks to look at before all of them are. Where one in ten is empty, they miss all of these in 1 of 160 launches.
constexpr int kFirstLooks = 48;

/// Lets a block go on.
class Onlooker : public sim::machine_code::Observer {
public:
    void execute(std::size_t /*step*/, std::uint32_t /*lanes*/, std::uint32_t /*mask*/) override {}
    void access(sim::machine_code::Space /*space*/, sim::machine_code::Access /*access*/, std::uint64_t /*offset*/,
                std::uint64_t /*bytes*/) override {}
    bool end_block(std::uint64_t /*index*/) override { return true; }
};

/// Ends a block at its first access to global memory.
class UntilAccess final : public Onlooker {
public:
    void access(sim::machine_code::Space space, sim::machine_code::Access /*access*/, std::uint64_t /*offset*/,
                std::uint64_t /*bytes*/) override {
        if (space == sim::machine_code::Space::global) throw Interruption{Interruption::Why::instructions};
    }
};

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

std::optional<std::vector<bool>> empty_blocks_of(const PreparedLaunch& prepared,
                                                 const sim::machine_code::FunctionalLaunch& launch, SavedMemory& saved,
                                                 std::uint64_t seed) {
    const std::uint64_t warps = (launch.block.count() + kWarpSize - 1) / kWarpSize;
    // Whether a block ends within `instructions` of each warp. nullopt: it fails, and so does the block that is
    // sampled.
    const auto ends = [&](std::uint64_t block, std::uint64_t instructions,
                          sim::machine_code::Observer& observer) -> std::optional<bool> {
        std::size_t left = instructions * warps;
        try {
            return run_watched(prepared, launch, block, observer, saved, left);
        } catch (const DeviceError&) {
            return std::nullopt;
        }
    };
    auto empty = find_empty_blocks(launch.grid.count(), seed, [&](std::uint64_t block) {
        UntilAccess access;
        return ends(block, kMostOfEmptyWarp, access);
    });
    if (!empty) return std::nullopt;
    const auto first = std::ranges::find(*empty, false) - empty->begin();
    const auto last = empty->rend() - std::find(empty->rbegin(), empty->rend(), false) - 1;
    for (const auto block : {first, last}) {
        Onlooker onlooker;
        if (ends(static_cast<std::uint64_t>(block), kLeastOfOtherWarp, onlooker) != false) return std::nullopt;
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
