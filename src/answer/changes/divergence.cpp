#include "answer/changes/changes.hpp"
#include "answer/changes/recorded_blocks.hpp"
#include "fmt/format.h"
#include "units/warp.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace gputomo::answer::changes {
namespace {

/// Share of the threads of executed warps that take part, above which divergence changes little.
constexpr double kMostThreads = 0.85;
/// A step of which more threads take part is not divergent.
constexpr double kWholeWarp = 0.97;

/// Steps that follow each other with the same share of threads are kept or dropped together.
std::vector<std::size_t> runs_of(const std::vector<double>& shares) {
    std::vector<std::size_t> runs(shares.size());
    for (std::size_t i = 1; i < shares.size(); ++i)
        runs[i] = runs[i - 1] + (std::abs(shares[i] - shares[i - 1]) > 1e-6 ? 1 : 0);
    return runs;
}

/// Keeps the share of a warp's events that full warps would execute. Dropped accesses leave their lines to the next one
/// that is kept.
void fill_warp(BlockTrace& block, std::vector<WarpEvent>& warp, std::size_t number, const LaunchProfile& profile,
               const std::vector<double>& shares, const std::vector<std::size_t>& runs, Touched& touched) {
    // Multiples of the golden ratio spread evenly between 0 and 1.
    constexpr double kGolden = 0.6180339887498949;
    const auto start = [&](std::size_t step) {
        const double at =
            kGolden * static_cast<double>(number + 1) + kGolden * kGolden * static_cast<double>(runs[step]);
        return at - std::floor(at);
    };
    std::map<std::size_t, double> due;
    std::map<std::size_t, std::vector<TouchedLine>> left;
    std::vector<WarpEvent> kept;
    for (const auto& event : warp) {
        const auto kind = profile.steps[event.step].kind;
        if (shares[event.step] >= kWholeWarp || kind == StepKind::block_barrier || kind == StepKind::branch) {
            kept.push_back(event);
            continue;
        }
        touched.add(event.step);
        const auto [known, first] = due.try_emplace(event.step, 0);
        if (first) known->second = start(event.step);
        known->second += shares[event.step];
        auto& lines = left[event.step];
        if (known->second < 1) {
            if (is_access(event) && lines.size() < kWarpSize) {
                const auto& access = block.accesses[event.access];
                const auto from = block.lines.begin() + access.first;
                lines.insert(lines.end(), from, from + access.lines);
            }
            continue;
        }
        known->second -= 1;
        kept.push_back(event);
        if (!is_access(event) || lines.empty()) continue;
        WarpAccess access = block.accesses[event.access];
        const auto before = static_cast<float>(access.lines);
        const std::vector<TouchedLine> own(block.lines.begin() + access.first,
                                           block.lines.begin() + access.first + access.lines);
        access.first = static_cast<std::uint32_t>(block.lines.size());
        access.lines = static_cast<std::uint16_t>(access.lines + lines.size());
        block.lines.insert(block.lines.end(), own.begin(), own.end());
        block.lines.insert(block.lines.end(), lines.begin(), lines.end());
        if (before > 0) access.stage_cycles *= static_cast<float>(access.lines) / before;
        kept.back().access = static_cast<std::uint32_t>(block.accesses.size());
        block.accesses.push_back(access);
        lines.clear();
    }
    warp = std::move(kept);
}

}  // namespace

std::optional<ChangedProfile> without_divergence(const LaunchProfile& profile, const machine::Machine& /*machine*/) {
    double executed = 0, threads = 0;
    std::vector<double> shares(profile.steps.size(), 1);
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (profile.executed[i] == 0 || profile.steps[i].kind == StepKind::branch) continue;
        shares[i] = std::min(1.0, profile.threads[i] / profile.executed[i] / kWarpSize);
        executed += profile.executed[i];
        threads += profile.threads[i];
    }
    const double share = executed > 0 ? threads / executed / kWarpSize : 1;
    if (share > kMostThreads) return {};
    ChangedProfile to{
        .change = fmt::format("with all threads of each warp at work, where {:.0f}% are in the mean now", 100 * share),
        .profile = profile,
        .steps = {}};
    const auto runs = runs_of(shares);
    Touched touched(profile.steps.size());
    const double before = mean_events(profile);
    std::size_t number = 0;
    for_each_block(to.profile, [&](BlockTrace& block) {
        for (auto& warp : block.warps) fill_warp(block, warp, number++, profile, shares, runs, touched);
    });
    if (before > 0) scale_counts(to.profile, mean_events(to.profile) / before);
    to.steps = touched.most();
    return to;
}

}  // namespace gputomo::answer::changes
