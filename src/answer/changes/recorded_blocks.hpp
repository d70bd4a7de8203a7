// What changes of recorded blocks have in common.
#pragma once

#include "launch/profile/launch_profile.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace gputomo::answer::changes {

using launch::AccessKind;
using launch::BlockTrace;
using launch::LaunchProfile;
using launch::StepKind;
using launch::TouchedLine;
using launch::WarpAccess;
using launch::WarpEvent;

inline constexpr std::uint64_t kLineBytes = launch::kTouchedLineBytes, kSectorBytes = launch::kTouchedSectorBytes;
/// Sectors over those of coalesced accesses below which coalescing changes nothing.
inline constexpr double kFewSectors = 1.1;

[[nodiscard]] inline bool is_access(const WarpEvent& event) { return event.access < launch::kNotExecuted; }

[[nodiscard]] inline bool is_local(const BlockTrace& block, const WarpAccess& access) {
    return access.lines > 0 && block.lines[access.first].line >= launch::kLocalMemory / kLineBytes;
}

/// A load or store of global memory that coalescing could change.
[[nodiscard]] bool is_global(const BlockTrace& block, const launch::ProfiledStep& step, const WarpAccess& access);

/// Lines and sectors that the words of an access need where they lie side by side, and the sectors that it touches.
[[nodiscard]] std::uint64_t lines_needed(const WarpAccess& access);
[[nodiscard]] std::uint64_t sectors_needed(const WarpAccess& access);
[[nodiscard]] std::uint64_t touched_sectors(const BlockTrace& block, const WarpAccess& access);

template <class Visit>
void for_each_block(LaunchProfile& profile, const Visit& visit) {
    for (auto& sm : profile.sms)
        for (auto& block : sm) visit(block);
    for (auto& block : profile.longest) visit(block);
}

/// Instructions by how often a change touched them.
class Touched {
public:
    explicit Touched(std::size_t steps) : counts_(steps) {}
    void add(std::size_t step) { ++counts_[step]; }
    [[nodiscard]] std::vector<std::size_t> most() const;

private:
    std::vector<std::size_t> counts_;
};

/// Warp instructions of a recorded block in the mean.
[[nodiscard]] double mean_events(const LaunchProfile& profile);

/// Scales the counts of sampled blocks, so that they keep their relation to the recorded ones.
void scale_counts(LaunchProfile& profile, double factor);

/// Moves the uses of barriers to the new places of their events. `places` has that of each event, or kNoPlace.
inline constexpr std::uint32_t kNoPlace = ~0U;
template <class Use>
void move_uses(std::vector<Use>& uses, const std::vector<std::uint32_t>& places) {
    std::erase_if(uses, [&](Use& use) {
        use.event = places[use.event];
        return use.event == kNoPlace;
    });
}

/// Removes the events of a block that `drops` names. Returns whether there were any.
template <class Drops>
bool drop_events(BlockTrace& block, const Drops& drops) {
    bool any = false;
    std::vector<std::uint32_t> places;
    for (std::size_t w = 0; w < block.warps.size(); ++w) {
        auto& warp = block.warps[w];
        places.clear();
        std::uint32_t kept = 0;
        for (const WarpEvent& event : warp) places.push_back(drops(event) ? kNoPlace : kept++);
        if (kept == warp.size()) continue;
        any = true;
        for (std::size_t i = 0; i < places.size(); ++i)
            if (places[i] != kNoPlace) warp[places[i]] = warp[i];
        warp.resize(kept);
        if (w < block.phases.size()) move_uses(block.phases[w], places);
        if (w < block.meetings.size()) move_uses(block.meetings[w], places);
    }
    return any;
}

/// Removes the events of all recorded blocks that `drops` names. Returns whether there were any.
template <class Drops>
bool drop_events(LaunchProfile& profile, const Drops& drops) {
    const double before = mean_events(profile);
    bool any = false;
    for_each_block(profile, [&](BlockTrace& block) {
        any = drop_events(block, [&](const WarpEvent& event) { return drops(block, event); }) || any;
    });
    if (before > 0) scale_counts(profile, mean_events(profile) / before);
    return any;
}

}  // namespace gputomo::answer::changes
