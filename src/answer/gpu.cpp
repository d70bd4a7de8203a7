#include "answer/gpu.hpp"

#include "machine/paths.hpp"
#include "sim/completion.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace gputomo::answer {
namespace {

/// Share of the time from which on an assumed part of it decides the answer: that part may be wrong by half.
constexpr double kDeciding = 0.2;
/// Share of assumed values from which on a description is one of another GPU with a few values of this one.
constexpr double kMostlyAssumed = 0.5;
/// The source of values that were not measured on the described GPU.
constexpr std::string_view kAssumedSource = "assumed";

}  // namespace

std::optional<std::string> mostly_assumed(const machine::Machine& machine) {
    std::size_t described = 0, assumed = 0;
    for (const auto& named : machine::all_leaves(machine)) {
        const auto& from = named.leaf.provenance;
        if (from.method == sim::kAssumedMethod) continue;  // not of the description
        ++described;
        if (from.source == kAssumedSource) ++assumed;
    }
    if (static_cast<double>(assumed) < kMostlyAssumed * static_cast<double>(described) || assumed == 0) return {};
    return fmt::format(
        "the description of {} is from publications: {} of its {} values are assumed, most as measured on another GPU, "
        "and no answer was compared with this GPU. How far this one is off is not known",
        machine.identity.name.value_or("the GPU"), assumed, described);
}

std::vector<std::string> assumptions_of(const Gpu& gpu) {
    std::vector<std::string> assumptions;
    if (!gpu.machine.paths.contains("instruction"))
        assumptions.emplace_back("instructions are always there, because paths.instruction is not described");
    return assumptions;
}

std::vector<std::string> warnings_of(const Gpu& gpu, double cycles) {
    std::vector<std::string> warnings;
    if (auto assumed = mostly_assumed(gpu.machine)) warnings.push_back(*std::move(assumed));
    const auto& outside = gpu.machine.launch.profiler_cycles;
    const auto& from = outside.provenance;
    if (outside && *outside >= kDeciding * cycles) {
        const double share = 100 * *outside / cycles;
        if (from.method == sim::kAssumedMethod)
            warnings.push_back(
                fmt::format("{:.0f}% of the time are the cycles before and after the blocks, which are assumed: "
                            "launch.profiler_cycles is not described",
                            share));
        else if (from.source == kAssumedSource)
            warnings.push_back(
                fmt::format("{:.0f}% of the time are the cycles before and after the blocks, which are assumed ({})",
                            share, from.note));
    }
    return warnings;
}

}  // namespace gputomo::answer
