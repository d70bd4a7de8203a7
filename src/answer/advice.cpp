#include "answer/advice.hpp"

#include "answer/changes.hpp"
#include "predict/launch/launch_prediction.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace gputomo::answer {
namespace {

/// Instructions that an advice names.
constexpr std::size_t kNamed = 3;

constexpr auto kChanges = {with_coalesced_accesses, without_bank_conflicts, with_more_warps,       with_wide_accesses,
                           without_divergence,      without_spills,         with_combined_atomics, without_barriers};

}  // namespace

std::size_t recorded_instructions(const launch::LaunchProfile& profile) {
    std::size_t instructions = 0;
    for (const auto& sm : profile.sms)
        for (const auto& block : sm)
            for (const auto& warp : block.warps) instructions += warp.size();
    return instructions;
}

std::vector<Advice> advice_for(const launch::LaunchProfile& profile, const machine::Machine& machine,
                               std::string_view origin, const predict::L2Content& content, double cycles) {
    std::vector<Advice> advice;
    for (const auto change : kChanges) {
        const auto changed = change(profile, machine);
        if (!changed) continue;
        const auto predicted = predict::predict_launch(changed->profile, machine, origin, content);
        const double factor = cycles / predicted.profiler_cycles;
        if (factor < kLeastFactor) continue;
        Advice one{.id = changed->id, .change = changed->change, .factor = factor, .instructions = {}};
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
