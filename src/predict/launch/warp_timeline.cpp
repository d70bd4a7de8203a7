#include "predict/launch/warp_timeline.hpp"

namespace gputomo::predict {
namespace {

constexpr std::size_t kMostKeptCompletions = 64;

}  // namespace

double ReplayedWarp::ready(const launch::ProfiledStep& step) {
    waited.fetched = hold;
    double when = std::max(hold, waited.constants);
    waited.producer = costs::kNoProducer;
    for (std::uint32_t waits = step.waits; waits != 0; waits &= waits - 1) {
        const auto barrier = static_cast<std::size_t>(std::countr_zero(waits));
        if (released[barrier] <= when) continue;
        when = released[barrier];
        waited.producer = releasing[barrier];
    }
    waited.fence = step.kind == launch::StepKind::fence && step.latency == 0;
    if (waited.fence) when = std::max(when, memory_done);
    waited.ready = when;
    return when;
}

void ReplayedWarp::release(const launch::ProfiledStep& step, std::uint32_t number, double read, double written) {
    release(step.written, number, written);
    release(step.read, number, read);
}

void ReplayedWarp::release(std::uint8_t barrier, std::uint32_t number, double when) {
    if (barrier >= kDependences) return;
    if (when >= released[barrier]) releasing[barrier] = number;
    released[barrier] = std::max(released[barrier], when);
    auto& completed = completions[barrier];
    if (completed.size() == kMostKeptCompletions) completed.erase(completed.begin());
    completed.push_back(when);
}

void ReplayedWarp::wait(const launch::ProfiledStep& step, double at) {
    if (step.barrier >= kDependences) return;
    const auto& completed = completions[step.barrier];
    double when = at;
    for (std::size_t i = 0; i + step.left < completed.size(); ++i) when = std::max(when, completed[i]);
    hold = std::max(hold, when);
}

void ReplayedBlock::count_phases() {
    phases.clear();
    for (const auto& of_warp : trace->phases)
        for (const launch::PhaseUse& use : of_warp) {
            if (phases.size() <= use.barrier) phases.resize(use.barrier + std::size_t{1});
            if (!use.checks) ++phase(use.barrier, use.phase).left;
        }
}

}  // namespace gputomo::predict
