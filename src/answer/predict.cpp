#include "answer/predict.hpp"

#include "answer/advice.hpp"
#include "answer/fits.hpp"
#include "answer/operations/flop.hpp"
#include "answer/published_errors.hpp"
#include "answer/rates.hpp"
#include "answer/simulate.hpp"
#include "answer/summary.hpp"
#include "launch/prepared_launch.hpp"
#include "launch/profile/decisive_content.hpp"
#include "predict/launch/l2_content.hpp"
#include "predict/launch/launch_prediction.hpp"
#include "sim/sm/sampling/sampling_plan.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace gputomo::answer {
namespace {

/// A failure of the kernel is no failure of a device: it is executed here.
launch::LaunchProfile profile_of(const launch::PreparedLaunch& prepared, const Gpu& gpu,
                                 const launch::Sampling& sampling) {
    try {
        return launch::profile_launch(prepared, gpu.machine, sampling);
    } catch (const TimeLimitError&) {
        throw;
    } catch (const DeviceError& e) {
        throw Error(e.what());
    }
}

Time time_of(const predict::LaunchPrediction& predicted, const machine::Machine& machine) {
    Time time{.cycles = predicted.profiler_cycles};
    if (machine.launch.profiler_cycles) time.launch_cycles = *machine.launch.profiler_cycles;
    // Both parts are at the same clock.
    if (predicted.cycles > 0) time.microseconds = predicted.microseconds * predicted.profiler_cycles / predicted.cycles;
    return time;
}

Limiter limiter_of(const predict::LaunchPrediction& predicted) {
    Limiter limiter{.resource = predicted.limiter,
                    .latency_cycles = predicted.latency_cycles,
                    .used_sm = predicted.used.sm,
                    .used_l1 = predicted.used.l1,
                    .used_l2 = predicted.used.l2,
                    .used_dram = predicted.used.dram};
    for (const auto& bound : predicted.bounds) limiter.bounds.push_back({bound.resource, bound.cycles});
    return limiter;
}

Work work_of(const predict::LaunchPrediction& predicted, const launch::LaunchProfile& profile) {
    const auto& bytes = predicted.bytes;
    return {.warp_instructions = predicted.instructions,
            .thread_instructions = predicted.thread_instructions,
            .transactions = predicted.transactions,
            .divergent_branches = {},
            .shared_accesses = predicted.shared_accesses,
            .shared_time_ratio = predicted.bank_conflict_ratio,
            .bank_conflict_cycles = {},
            .l1_bytes = bytes.l1,
            .l1_hit_rate = bytes.l1_hit_rate,
            .l2_read_bytes = bytes.l2_read,
            .l2_written_bytes = bytes.l2_written,
            .l2_atomic_bytes = bytes.l2_atomic,
            .dram_read_bytes = bytes.dram_read,
            .dram_written_bytes = bytes.dram_written,
            .dram_bytes = bytes.dram_read + bytes.dram_written,
            .footprint_read_bytes = predicted.footprint.read,
            .footprint_written_bytes = predicted.footprint.written,
            .footprint_exact = predicted.footprint.exact,
            .flop = flop_of(profile),
            .caches = {}};
}

Occupancy occupancy_of(const predict::LaunchPrediction& predicted) {
    const double waves = predicted.waves, whole = std::ceil(waves);
    return {.blocks_per_sm = predicted.resident_blocks,
            .warps_per_sm = predicted.resident_warps,
            .max_warps_per_sm = predicted.max_warps,
            .limited_by = predicted.residency_limit,
            .waves = waves,
            .needed_warps = predicted.needed_warps,
            .achieved_warps_per_sm = predicted.achieved_warps,
            .tail_share = whole > 0 ? std::optional((whole - waves) / whole) : std::nullopt};
}

/// Rates, the roofline, the interval and the sentence, which follow from the rest.
void fill_derived(Answer& answer, const launch::LaunchProfile& profile, const machine::Machine& machine) {
    const auto schedulers = static_cast<double>(machine.issue.schedulers_per_sm.value_or(1));
    const auto sms = static_cast<double>(machine.topology.sms.value_or(1));
    fill_rates(answer, machine, [&](std::string_view type) -> std::optional<double> {
        if (!type.starts_with("tensor")) return flop_ceiling(machine, type);
        const double each = matrix_flop_per_cycle(profile, type, schedulers);
        if (each <= 0) return {};
        return each * sms * *machine.clock.sm_mhz * 1e6;
    });
    answer.time.interval = interval_of(answer.time.cycles, Method::predict, answer.gpu);
    answer.limiter->parts = parts_of(answer);
    answer.summary = summary_of(answer, sms);
}

/// Instructions that an advice concerns come from the lines that are known of the launch's instructions.
void name_sources(std::vector<Advice>& advice, const std::vector<Instruction>& instructions) {
    for (Advice& one : advice)
        for (auto& instruction : one.instructions) {
            const auto found = std::ranges::lower_bound(instructions, instruction.address, {}, &Instruction::address);
            if (found != instructions.end() && found->address == instruction.address)
                instruction.source = found->source;
        }
}

/// What the L2 holds when the launch begins.
predict::L2Content content_for(const CachesAtStart& caches, const launch::LaunchProfile& profile, const Gpu& gpu,
                               const launch::Sampling& sampling) {
    switch (caches.caches.state) {
        case Caches::State::cold: return {};
        case Caches::State::dirty: return predict::dirty_content();
        case Caches::State::warm: return predict::content_after_itself(profile, gpu.machine);
        case Caches::State::after: break;
    }
    const launch::PreparedLaunch earlier(*caches.earlier);
    return predict::content_after(profile_of(earlier, gpu, sampling), earlier.buffers(), gpu.machine);
}

/// Share of the predicted time that swaps of one word may add before the launch is simulated, where each of them makes
/// one other thread begin again.
constexpr double kSwapsMatter = 0.05;

/// How often threads begin again because another one has swapped the same word first, no block shows that is executed
/// before or after the others.
bool depends_on_swaps(const launch::LaunchProfile& profile, const machine::Machine& machine, double cycles) {
    const auto l2 = machine.caches.find("l2");
    if (l2 == machine.caches.end() || !l2->second.latency) return false;
    return profile.most_swaps * static_cast<double>(*l2->second.latency) > kSwapsMatter * cycles;
}

SimulationRequest request_for(const launch::Sampling& sampling, const CachesAtStart& caches) {
    return {.seed = sampling.seed,
            .time_limit = sampling.time_limit,
            .sampling = sim::SamplingPlan{sampling.most_simulated},
            .most_instructions = sampling.most_simulated,
            .caches = caches,
            .warns_of_waits = false};
}

/// The simulation of a launch whose threads swap the same words; nullopt where it takes too long.
std::optional<Answer> simulated_swaps(const launch::Launch& launch, const Gpu& gpu, const launch::Sampling& sampling,
                                      const CachesAtStart& caches) {
    try {
        Answer answer = simulate(launch, gpu, request_for(sampling, caches));
        answer.time.interval.reset();  // the published errors are of other launches
        answer.warnings.insert(answer.warnings.begin(),
                               "simulated, not predicted: threads compare and swap the same words, and begin again "
                               "where another one came first. Blocks that are executed one after the other do not "
                               "show how often");
        return answer;
    } catch (const sim::InstructionLimitError&) {
        return {};
    } catch (const TimeLimitError&) {
        return {};
    }
}

/// The answer where sampled blocks do not stand for the launch.
Answer simulated_instead(const launch::Launch& launch, const Gpu& gpu, const launch::Sampling& sampling,
                         const CachesAtStart& caches, const launch::DependentLaunch& dependent) {
    try {
        Answer answer = simulate(launch, gpu, request_for(sampling, caches));
        answer.time.interval.reset();  // the published errors are of other launches
        answer.warnings.insert(
            answer.warnings.begin(),
            fmt::format("simulated, not predicted: {}. A prediction from sampled blocks does not know "
                        "how long they wait or what they do. The time between two looks at memory may "
                        "differ from the GPU's, so that waits may be off by a factor of {:.2g}",
                        dependent.why(), worst_factor("dependent", Method::predict, answer.gpu)));
        return answer;
    } catch (const sim::InstructionLimitError&) {
        throw InputError(
            fmt::format("kernel '{}': {}. Sampled blocks do not tell how long that takes, and a simulation "
                        "executes more than {} warp instructions. Use `gputomo simulate` with a long "
                        "--time-limit, or a smaller problem",
                        launch.kernel, dependent.why(), sampling.most_simulated));
    }
}

Answer predicted(const launch::Launch& launch, const Gpu& gpu, const launch::Sampling& sampling,
                 const CachesAtStart& caches, Advising advising) {
    const launch::PreparedLaunch prepared(launch);
    const auto profile = profile_of(prepared, gpu, sampling);
    const auto content = content_for(caches, profile, gpu, sampling);
    auto predicted = predict::predict_launch(profile, gpu.machine, gpu.origin, content);
    if (sampling.simulates_swaps && depends_on_swaps(profile, gpu.machine, predicted.profiler_cycles))
        if (auto simulated = simulated_swaps(launch, gpu, sampling, caches)) return *std::move(simulated);
    Answer answer{.method = Method::predict,
                  .launch = {.kernel = predicted.kernel,
                             .grid = launch.grid,
                             .block = launch.block,
                             .dynamic_shared_bytes = launch.dynamic_shared,
                             .shared_bytes = profile.shared_of_block,
                             .registers_per_thread = profile.registers},
                  .gpu = predicted.gpu,
                  .caches = caches.caches,
                  .coverage = {.blocks = predicted.blocks,
                               .executed_blocks = predicted.sampled_blocks,
                               .timed_blocks = predicted.replayed_blocks,
                               .error = {}},
                  .time = time_of(predicted, gpu.machine),
                  .limiter = limiter_of(predicted),
                  .occupancy = occupancy_of(predicted),
                  .work = work_of(predicted, profile),
                  .assumptions = std::move(predicted.assumptions),
                  .warnings = std::move(predicted.warnings)};
    for (auto& assumption : assumptions_of(gpu)) answer.assumptions.push_back(std::move(assumption));
    const bool reads_memory = answer.work.dram_read_bytes.value_or(0) > 0;
    if (caches.also_warm && reads_memory && caches.caches.state == Caches::State::cold) {
        const double warm = predict::predict_launch(profile, gpu.machine, gpu.origin,
                                                    predict::content_after_itself(profile, gpu.machine))
                                .profiler_cycles;
        if (std::abs(warm - answer.time.cycles) > kNotableDifference * answer.time.cycles)
            answer.time.warm_cycles = warm;
    }
    for (auto& one : predicted.code)
        answer.instructions.push_back({.address = one.address,
                                       .text = std::move(one.text),
                                       .executed = one.executed,
                                       .cycles = one.cycles,
                                       .waits_for = one.waits_for});
    answer.timeline = std::move(predicted.timeline);
    if (auto damaged = complete(answer.instructions, launch.code, launch.kernel); !damaged.empty())
        answer.warnings.push_back(std::move(damaged));
    fill_derived(answer, profile, gpu.machine);
    if (advising == Advising::tried && recorded_instructions(profile) <= kMostAdvised)
        answer.advice = advice_for(profile, gpu.machine, gpu.origin, content, predicted);
    if (auto decisive = launch::decisive_content(launch, gpu.machine)) answer.warnings.push_back(*std::move(decisive));
    if (answer.advice) name_sources(*answer.advice, answer.instructions);
    for (auto& warning : warnings_of(gpu, answer.time.cycles)) answer.warnings.push_back(std::move(warning));
    if (auto other = code_of_another_gpu(launch, gpu.machine)) answer.warnings.push_back(*std::move(other));
    if (!launch.not_proven.empty())
        answer.warnings.push_back("the reduction of the capture may have changed the launch: " + launch.not_proven);
    return answer;
}

}  // namespace

Answer predict(const launch::Launch& launch, const Gpu& gpu, const launch::Sampling& sampling,
               const CachesAtStart& caches, Advising advising) {
    try {
        return predicted(launch, gpu, sampling, caches, advising);
    } catch (const launch::DependentLaunch& dependent) {
        return simulated_instead(launch, gpu, sampling, caches, dependent);
    }
}

}  // namespace gputomo::answer
