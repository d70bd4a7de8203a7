#include "answer/simulate.hpp"

#include "sim/simulator.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace gputomo::answer {
namespace {

using Plan = std::optional<sim::SamplingPlan>;

Time time_of(const sim::Counters& counters, const machine::Machine& machine) {
    Time time{.cycles = static_cast<double>(counters.profiler_cycles), .launch_cycles = {}};
    if (machine.launch.profiler_cycles)
        time.launch_cycles = static_cast<double>(counters.profiler_cycles - counters.cycles);
    time.microseconds = time.cycles / *machine.clock.sm_mhz;  // without a clock no GPU is simulated
    return time;
}

Work work_of(const sim::Counters& counters) {
    Work work{.warp_instructions = static_cast<double>(counters.warp_instructions),
              .thread_instructions = static_cast<double>(counters.thread_instructions),
              .transactions = static_cast<double>(counters.memory_transactions),
              .divergent_branches = static_cast<double>(counters.divergent_branches),
              .bank_conflict_cycles = static_cast<double>(counters.bank_conflict_cycles),
              .dram_bytes = static_cast<double>(counters.dram_bytes)};
    for (const auto& [cache, hits] : counters.cache_hits)
        work.caches[cache] = {.hits = hits, .misses = counters.cache_misses.at(cache)};
    return work;
}

/// Machine instructions that took a time that no scan measured.
std::vector<std::string> assumptions_of(const sim::ExecutedCode& code) {
    std::vector<std::string> assumptions;
    for (const auto& assumed : code.assumed)
        assumptions.push_back(
            fmt::format("{}, executed {} times: {}", assumed.operation, assumed.executed, assumed.assumption));
    return assumptions;
}

Answer simulate_as(const launch::Launch& launch, const Gpu& gpu, const SimulationRequest& request, const Plan& plan) {
    const auto device = sim::make_device(gpu.machine, {.id = gpu.origin, .seed = request.seed});
    launch::PlacedLaunch placed(*device, launch);
    device->sample(plan);
    (void)placed.run(request.time_limit);
    const auto& blocks = device->sampled_blocks();
    Answer answer{.method = Method::simulate,
                  .launch = {launch.kernel, launch.grid, launch.block, launch.dynamic_shared},
                  .gpu = device->name(),
                  .coverage = {.blocks = blocks.of,
                               .executed_blocks = blocks.simulated,
                               .timed_blocks = blocks.simulated,
                               .error = blocks.complete() ? 0 : blocks.error,
                               .machine_code = device->executed_code().language == sim::ExecutedCode::Language::sass},
                  .time = time_of(device->counters(), gpu.machine),
                  .work = work_of(device->counters()),
                  .assumptions = assumptions_of(device->executed_code())};
    if (!launch.not_proven.empty())
        answer.warnings.push_back("the reduction of the capture may have changed the launch: " + launch.not_proven);
    if (request.compares_results) answer.differences = placed.compare(*launch.results);
    if (request.after) request.after(placed);
    return answer;
}

}  // namespace

Answer simulate(const launch::Launch& launch, const Gpu& gpu, const SimulationRequest& request) {
    if (request.compares_results && !launch.results)
        throw InputError(
            fmt::format("the launch of '{}' has no results to compare with; capture it with --results", launch.kernel));
    const Plan plan = request.compares_results || request.after ? std::nullopt : request.sampling;
    try {
        try {
            return simulate_as(launch, gpu, request, plan);
        } catch (const sim::SamplingError&) {
            return simulate_as(launch, gpu, request, std::nullopt);
        }
    } catch (const TimeLimitError&) {
        throw;
    } catch (const DeviceError& e) {
        // A simulated GPU does not fail: what ends a launch before its time limit is the kernel's fault.
        throw Error(e.what());
    }
}

}  // namespace gputomo::answer
