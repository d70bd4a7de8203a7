#include "answer/changes/recorded_blocks.hpp"

#include <bit>

namespace gputomo::answer::changes {

bool is_global(const BlockTrace& block, const launch::ProfiledStep& step, const WarpAccess& access) {
    return access.lines > 0 && access.kind != AccessKind::atomic && access.lanes > 0 && access.bytes > 0 &&
           (step.kind == StepKind::global || step.kind == StepKind::copy) &&
           (access.stage == launch::Stage::storage || access.stage == launch::Stage::first_cache) &&
           !is_local(block, access);
}

std::uint64_t lines_needed(const WarpAccess& access) {
    return (std::uint64_t{access.lanes} * access.bytes + kLineBytes - 1) / kLineBytes;
}

std::uint64_t sectors_needed(const WarpAccess& access) {
    return (std::uint64_t{access.lanes} * access.bytes + kSectorBytes - 1) / kSectorBytes;
}

std::uint64_t touched_sectors(const BlockTrace& block, const WarpAccess& access) {
    std::uint64_t sectors = 0;
    for (std::size_t i = access.first; i < std::size_t{access.first} + access.lines; ++i)
        sectors += static_cast<std::uint64_t>(std::popcount(block.lines[i].sectors));
    return sectors;
}

std::vector<std::size_t> Touched::most() const {
    std::vector<std::size_t> steps;
    for (std::size_t i = 0; i < counts_.size(); ++i)
        if (counts_[i] > 0) steps.push_back(i);
    std::ranges::stable_sort(steps, std::ranges::greater(), [this](std::size_t i) { return counts_[i]; });
    return steps;
}

double mean_events(const LaunchProfile& profile) {
    double events = 0, blocks = 0;
    for (const auto& sm : profile.sms)
        for (const auto& block : sm) {
            for (const auto& warp : block.warps) events += static_cast<double>(warp.size());
            ++blocks;
        }
    return blocks > 0 ? events / blocks : 0;
}

void scale_counts(LaunchProfile& profile, double factor) {
    for (auto& block : profile.sampled) block.instructions *= factor;
}

}  // namespace gputomo::answer::changes
