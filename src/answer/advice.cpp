#include "answer/advice.hpp"

#include "answer/changes/changes.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace gputomo::answer {
namespace {

/// Instructions that an advice names.
constexpr std::size_t kNamed = 3;

using Change = std::optional<changes::ChangedProfile> (*)(const launch::LaunchProfile&, const machine::Machine&);

/// What advice is given. A change that leaves the bytes alone that cross the GPU's DRAM cannot make a launch faster
/// than these bytes take.
struct AdviceKind {
    std::string_view id;
    Change change;
    bool moves_fewer_bytes;
};
constexpr AdviceKind kKinds[] = {
    {"coalesced", changes::with_coalesced_accesses, true},
    {"bank_conflicts", changes::without_bank_conflicts, false},
    {"more_warps", changes::with_more_warps, false},
    {"larger_blocks", changes::with_larger_blocks, false},
    {"wide_accesses", changes::with_wide_accesses, false},
    {"divergence", changes::without_divergence, false},
    {"independent_arithmetic", changes::with_independent_arithmetic, false},
    {"single_precision", changes::with_single_precision, false},
    {"spills", changes::without_spills, true},
    {"atomics", changes::with_combined_atomics, true},
    {"barriers", changes::without_barriers, false},
};

/// Cycles, as a profiler counts them, that the launch takes at least because of what crosses its DRAM.
double least_for_dram(const predict::LaunchPrediction& base) {
    for (const auto& bound : base.bounds)
        if (bound.resource == predict::kDram) return bound.cycles + base.profiler_cycles - base.cycles;
    return 0;
}

}  // namespace

std::size_t recorded_instructions(const launch::LaunchProfile& profile) {
    std::size_t instructions = 0;
    for (const auto& sm : profile.sms)
        for (const auto& block : sm)
            for (const auto& warp : block.warps) instructions += warp.size();
    return instructions;
}

std::vector<Advice> advice_for(const launch::LaunchProfile& profile, const machine::Machine& machine,
                               std::string_view origin, const predict::L2Content& content,
                               const predict::LaunchPrediction& base) {
    std::vector<Advice> advice;
    for (const AdviceKind& kind : kKinds) {
        const auto changed = kind.change(profile, machine);
        if (!changed) continue;
        double cycles = predict::predict_launch(changed->profile, machine, origin, content).profiler_cycles;
        if (!kind.moves_fewer_bytes) cycles = std::max(cycles, least_for_dram(base));
        const double factor = base.profiler_cycles / cycles;
        if (factor < kLeastFactor) continue;
        Advice one{.id = std::string(kind.id), .change = changed->change, .factor = factor, .instructions = {}};
        for (std::size_t i = 0; i < std::min(kNamed, changed->steps.size()); ++i) {
            const auto& step = profile.steps[changed->steps[i]];
            one.instructions.push_back({.address = step.address, .text = step.text});
        }
        advice.push_back(std::move(one));
    }
    std::ranges::stable_sort(advice, std::ranges::greater(), &Advice::factor);
    return advice;
}

}  // namespace gputomo::answer
