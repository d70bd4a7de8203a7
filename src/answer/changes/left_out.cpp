#include "answer/changes/changes.hpp"
#include "answer/changes/recorded_blocks.hpp"

#include <algorithm>
#include <unordered_set>

namespace gputomo::answer::changes {
namespace {

/// Share of lines of local memory, and of atomics that would be spared, below which a change is not tried.
constexpr double kFewLocal = 0.02, kFewSpared = 0.3;

}  // namespace

std::optional<ChangedProfile> without_spills(const LaunchProfile& profile, const machine::Machine& /*machine*/) {
    double local = 0, all = 0;
    for (const auto& sm : profile.sms)
        for (const auto& block : sm)
            for (const auto& access : block.accesses) {
                all += access.lines;
                if (is_local(block, access)) local += access.lines;
            }
    if (local <= kFewLocal * all) return {};
    ChangedProfile to{.change =
                          "without accesses to local memory: no spilled registers, and arrays of threads in "
                          "registers",
                      .profile = profile,
                      .steps = {}};
    Touched touched(profile.steps.size());
    (void)drop_events(to.profile, [&](const BlockTrace& block, const WarpEvent& event) {
        const bool drops = is_access(event) && is_local(block, block.accesses[event.access]);
        if (drops) touched.add(event.step);
        return drops;
    });
    to.steps = touched.most();
    return to;
}

std::optional<ChangedProfile> with_combined_atomics(const LaunchProfile& profile, const machine::Machine& /*machine*/) {
    ChangedProfile to{.change =
                          "with the atomics of each block combined before they leave it (what that takes is not "
                          "counted)",
                      .profile = profile,
                      .steps = {}};
    Touched touched(profile.steps.size());
    double requests = 0, kept = 0;
    for_each_block(to.profile, [&](BlockTrace& block) {
        std::unordered_set<std::uint64_t> seen;
        (void)drop_events(block, [&](const WarpEvent& event) {
            if (!is_access(event) || block.accesses[event.access].kind != AccessKind::atomic) return false;
            auto& access = block.accesses[event.access];
            touched.add(event.step);
            std::vector<TouchedLine> first;
            for (std::size_t i = access.first; i < std::size_t{access.first} + access.lines; ++i)
                if (seen.insert(block.lines[i].line << 4 | block.lines[i].sectors).second)
                    first.push_back(block.lines[i]);
            requests += access.lines;
            kept += static_cast<double>(first.size());
            std::ranges::copy(first, block.lines.begin() + access.first);
            const auto share = static_cast<float>(first.size()) / static_cast<float>(std::max<int>(1, access.lines));
            access.stage_cycles *= share;
            access.lines = static_cast<std::uint16_t>(first.size());
            return first.empty();
        });
    });
    if (requests == 0 || kept > (1 - kFewSpared) * requests) return {};
    for (auto& sector : to.profile.atomic_sectors) sector.requests *= kept / requests;
    to.profile.scattered_atomics *= kept / requests;
    to.steps = touched.most();
    return to;
}

std::optional<ChangedProfile> without_barriers(const LaunchProfile& profile, const machine::Machine& /*machine*/) {
    ChangedProfile to{
        .change = "if the warps of a block did not wait for each other at barriers", .profile = profile, .steps = {}};
    Touched touched(profile.steps.size());
    const bool any = drop_events(to.profile, [&](const BlockTrace&, const WarpEvent& event) {
        const bool drops = profile.steps[event.step].kind == StepKind::block_barrier;
        if (drops) touched.add(event.step);
        return drops;
    });
    if (!any) return {};
    to.steps = touched.most();
    return to;
}

}  // namespace gputomo::answer::changes
