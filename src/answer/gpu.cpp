#include "answer/gpu.hpp"

#include "sim/completion.hpp"

#include <fmt/format.h>

namespace gputomo::answer {
namespace {

/// Share of the time from which on an assumed part of it decides the answer: that part may be wrong by half.
constexpr double kDeciding = 0.2;

}  // namespace

std::vector<std::string> assumptions_of(const Gpu& gpu) {
    std::vector<std::string> assumptions;
    if (!gpu.machine.paths.contains("instruction"))
        assumptions.emplace_back("instructions are always there, because paths.instruction is not described");
    return assumptions;
}

std::vector<std::string> warnings_of(const Gpu& gpu, double cycles) {
    const auto& outside = gpu.machine.launch.profiler_cycles;
    if (!outside || outside.provenance.method != sim::kAssumedMethod || *outside < kDeciding * cycles) return {};
    return {fmt::format(
        "{:.0f}% of the time are the cycles before and after the blocks, which are assumed: launch.profiler_cycles is "
        "not described",
        100 * *outside / cycles)};
}

}  // namespace gputomo::answer
