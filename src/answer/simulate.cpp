#include "answer/simulate.hpp"

#include "answer/fits.hpp"
#include "answer/published_errors.hpp"
#include "answer/rates.hpp"
#include "costs/atomic_units.hpp"
#include "launch/prepared_launch.hpp"
#include "launch/profile/decisive_content.hpp"
#include "launch/profile/profile.hpp"
#include "predict/launch/doubts.hpp"
#include "sass/code.hpp"
#include "sass/cubin.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/machine_code/unknown_values.hpp"
#include "sim/simulator.hpp"
#include "sim/sm/engine/residency.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace gputomo::answer {
namespace {

using Plan = std::optional<sim::SamplingPlan>;

Time time_of(const sim::Counters& counters, const machine::Machine& machine) {
    Time time{.cycles = static_cast<double>(counters.profiler_cycles)};
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

/// Share of atomics that may meet on an address before a simulation without their times warns, and the share of
/// compare-and-swap requests that may fail. A few of them change no launch's time by a tenth.
constexpr double kMetAtomics = 0.05, kFailedSwaps = 0.02;

void add_atomic_remarks(Answer& answer, const sim::Counters& counters, const machine::Machine& machine) {
    const auto share = [](std::uint64_t part, std::uint64_t of) {
        return of > 0 ? static_cast<double>(part) / static_cast<double>(of) : 0;
    };
    std::vector<std::string> assumptions;
    const auto units = costs::atomic_units_of(machine, &assumptions);
    if (counters.atomics > 0 && units)
        answer.assumptions.insert(answer.assumptions.end(), assumptions.begin(), assumptions.end());
    if (counters.atomics > 0 && !units)
        answer.assumptions.emplace_back(
            "an atomic waits one cycle for another one on its address: the machine has not all of "
            "accesses.l2_atomic.units, .unit_bytes, .same_address_cycles, .part_cycles and .sector_cycles");
    if (const double met = share(counters.met_atomics, counters.atomics); met > kMetAtomics && !units)
        answer.warnings.push_back(
            fmt::format("{:.0f}% of the atomics meet others on their address, and how long each takes there is not "
                        "described: the launch may take many times as long. The experiment atomic_contention finds it",
                        100 * met));
    if (const double failed = share(counters.failed_swaps, counters.swaps); failed > kFailedSwaps)
        answer.warnings.push_back(fmt::format(
            "{:.0f}% of the compare-and-swap requests find that another thread came first. How often threads "
            "begin again depends on when requests arrive, to a few cycles: the launch may execute more or "
            "fewer instructions",
            100 * failed));
}

/// Fewer stores of an SM hardly take time.
constexpr std::uint64_t kFewStores = 64;

void add_partial_stores(Answer& answer, const sim::Counters& counters, const machine::Machine& machine) {
    const auto sms = static_cast<std::uint64_t>(machine.topology.sms.value_or(1));
    const auto stores = static_cast<double>(counters.stores), partial = static_cast<double>(counters.partial_stores);
    if (counters.stores < kFewStores * sms || partial < predict::kPartialShare * stores) return;
    answer.warnings.push_back(fmt::format(
        "{:.0f}% of the stores write sectors in part. How many leave an SM together depends on the order of "
        "its warps: the simulation may be up to {} times off",
        100 * partial / stores, predict::kPartialFactor));
}

/// How far off launches were on an H200 whose stores go to lines that are on their way from DRAM.
constexpr double kFillingFactor = 1.7;

void add_filling_stores(Answer& answer, const sim::Counters& counters, const machine::Machine& machine) {
    const auto units = costs::atomic_units_of(machine);
    if (!units || counters.cycles == 0) return;
    const double share =
        counters.filling_cycles / static_cast<double>(units->count()) / static_cast<double>(counters.cycles);
    if (share < predict::kFillingShare) return;
    answer.warnings.push_back(fmt::format(
        "stores go to lines that are still being fetched from memory, and hold up the L2 for {:.0f}% of the time. How "
        "many do depends on when each request arrives: the simulation may be up to {} times too fast",
        100 * share, kFillingFactor));
}

void add_waits(Answer& answer, const sim::Counters& counters) {
    if (counters.waits_at.empty()) return;
    answer.time.interval.reset();  // the published errors are of other launches
    answer.warnings.push_back(fmt::format(
        "blocks wait for each other through memory ({}): the time between two looks at memory may differ from "
        "the GPU's, and the simulation may be up to {:.2g} times off",
        counters.waits_at, worst_factor("dependent", Method::simulate, answer.gpu)));
}

/// What the simulated blocks did stands for the others.
void fill_instructions(Answer& answer, const sim::ExecutedCode& code, const launch::Launch& launch) {
    const double of_grid = static_cast<double>(answer.coverage.blocks) /
                           static_cast<double>(std::max<std::uint64_t>(1, answer.coverage.timed_blocks));
    const auto& recorded = code.stalls.instructions();
    for (std::size_t i = 0; i < recorded.size(); ++i) {
        if (recorded[i].issued == 0) continue;
        Instruction one{.address = i * sass::kInstructionBytes,
                        .text = code.texts[i],
                        .executed = static_cast<double>(recorded[i].issued) * of_grid,
                        .cycles = recorded[i].cycles};
        for (double& cycles : one.cycles) cycles *= of_grid;
        if (const auto producer = recorded[i].main_producer(); producer != costs::kNoProducer)
            one.waits_for = producer * std::uint64_t{sass::kInstructionBytes};
        answer.instructions.push_back(std::move(one));
    }
    answer.timeline = code.timeline;
    if (auto damaged = complete(answer.instructions, launch.code, launch.kernel); !damaged.empty())
        answer.warnings.push_back(std::move(damaged));
}

void place_textures(sim::SimulatedDevice& gpu, const launch::Launch& launch) {
    for (const launch::Texture& texture : launch.textures) gpu.texture_at(texture.handle, texture.object);
}

/// Registers and shared memory are those of machine code; PTX does not have them yet.
LaunchShape shape_of(const launch::Launch& launch, const machine::Machine& machine) {
    LaunchShape shape{.kernel = launch.kernel,
                      .grid = launch.grid,
                      .block = launch.block,
                      .dynamic_shared_bytes = launch.dynamic_shared};
    if (!sass::is_cubin(launch.code)) return shape;
    const sass::Cubin cubin(std::as_bytes(std::span(launch.code)));
    const auto program =
        sim::machine_code::prepare(cubin, launch.kernel, [](std::string_view) -> std::uint64_t { return 0; });
    shape.registers_per_thread = program.registers;
    const auto residency = sim::resident_blocks(
        machine, {.threads = launch.block.count(),
                  .shared_bytes = program.shared_bytes - program.system_shared_bytes + launch.dynamic_shared,
                  .registers_per_thread = program.registers,
                  .arguments = program.parameters.size()});
    if (residency.why.empty()) shape.shared_bytes = residency.shared_of_block;
    return shape;
}

/// Bytes that are no UTF-8 are replaced.
std::string valid_text(const std::string& text) {
    using Json = nlohmann::json;
    return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

void fill_printed(Answer& answer, const sim::ExecutedCode& code) {
    if (code.language != sim::ExecutedCode::Language::sass) return;
    const sim::machine_code::Printed& printed = code.printed;
    answer.printed = valid_text(printed.text());
    if (printed.lost() != 0)
        answer.warnings.push_back(
            fmt::format("{} calls of printf are left out of what is printed, which is cut off at "
                        "{} MiB",
                        printed.lost(), sim::machine_code::Printed::kMost >> 20));
    if (!printed.text().empty() && answer.coverage.timed_blocks < answer.coverage.blocks)
        answer.warnings.push_back(fmt::format("what is printed is that of {} of {} blocks; --whole simulates all",
                                              answer.coverage.timed_blocks, answer.coverage.blocks));
}

/// What blocks execute, from a quick look at few of them.
std::optional<sim::BlockWork> block_work_of(const launch::Launch& launch, const Gpu& gpu, std::uint64_t seed) {
    try {
        const launch::PreparedLaunch prepared(launch);
        const auto profile = launch::profile_launch(prepared, gpu.machine, launch::Sampling{.seed = seed}.quick());
        sim::BlockWork work{.executed = profile.executed};
        double sum = 0, squares = 0;
        for (const auto& block : profile.sampled) sum += block.instructions;
        const auto count = static_cast<double>(profile.sampled.size());
        for (const auto& block : profile.sampled) squares += std::pow(block.instructions - sum / count, 2);
        if (sum > 0) work.spread = std::sqrt(squares / count) / (sum / count);
        return work;
    } catch (const Error&) {
        return std::nullopt;  // blocks depend on others, or a block takes too long
    }
}

/// The plan for a launch of machine code. The engine does not count where PTX executes its instructions.
Plan plan_for(const launch::Launch& launch, const Gpu& gpu, const SimulationRequest& request, Plan plan) {
    if (plan && sass::is_cubin(launch.code))
        plan->block_work = [&launch, &gpu, seed = request.seed] { return block_work_of(launch, gpu, seed); };
    return plan;
}

/// Lets a launch leave its data in the caches, and says what that lacks.
void fill_caches(sim::SimulatedDevice& gpu, launch::PlacedLaunch& placed, const SimulationRequest& request,
                 const Plan& plan, std::vector<std::string>& warnings) {
    gpu.sample(plan);
    (void)placed.run(request.time_limit);
    const auto& blocks = gpu.sampled_blocks();
    if (!blocks.complete())
        warnings.push_back(
            fmt::format("the caches are filled by {} of {} blocks of the launch before, and lack what the others would "
                        "leave. The time lies between that of cold and of warm caches; --whole runs all blocks",
                        blocks.simulated, blocks.of));
}

Answer simulate_as(const launch::Launch& launch, const Gpu& gpu, const SimulationRequest& request, const Plan& plan,
                   bool products) {
    const auto device = sim::make_device(gpu.machine, {.id = gpu.origin, .seed = request.seed});
    device->compute_products(products);
    std::vector<std::string> warnings;
    const auto state = request.caches.caches.state;
    if (state == Caches::State::dirty)
        throw InputError("caches 'dirty': are predicted only; expected 'cold' or 'warm' for a simulation");
    if (state == Caches::State::after) {
        place_textures(*device, *request.caches.earlier);
        launch::PlacedLaunch earlier(*device, *request.caches.earlier);
        fill_caches(*device, earlier, request, plan_for(*request.caches.earlier, gpu, request, plan), warnings);
    }
    place_textures(*device, launch);
    launch::PlacedLaunch placed(*device, launch);
    const Plan own = plan_for(launch, gpu, request, plan);
    if (state == Caches::State::warm) {
        fill_caches(*device, placed, request, own, warnings);
        placed.restore();
    }
    if (state != Caches::State::cold) device->forget_sm_data();
    device->know_pages();
    device->sample(own);
    device->limit_instructions(request.most_instructions);
    (void)placed.run(request.time_limit);
    const auto& blocks = device->sampled_blocks();
    Answer answer{.method = Method::simulate,
                  .launch = shape_of(launch, gpu.machine),
                  .gpu = device->name(),
                  .caches = request.caches.caches,
                  .coverage = {.blocks = blocks.of,
                               .executed_blocks = blocks.simulated,
                               .timed_blocks = blocks.simulated,
                               .error = blocks.complete() ? 0 : blocks.error,
                               .machine_code = device->executed_code().language == sim::ExecutedCode::Language::sass},
                  .time = time_of(device->counters(), gpu.machine),
                  .work = work_of(device->counters()),
                  .assumptions = assumptions_of(device->executed_code())};
    answer.warnings = std::move(warnings);
    fill_instructions(answer, device->executed_code(), launch);
    fill_printed(answer, device->executed_code());
    fill_rates(answer, gpu.machine, [&](std::string_view type) { return flop_ceiling(gpu.machine, type); });
    answer.time.interval = interval_of(answer.time.cycles, Method::simulate, answer.gpu);
    add_atomic_remarks(answer, device->counters(), gpu.machine);
    add_partial_stores(answer, device->counters(), gpu.machine);
    add_filling_stores(answer, device->counters(), gpu.machine);
    if (request.warns_of_waits) add_waits(answer, device->counters());
    for (auto& assumption : assumptions_of(gpu)) answer.assumptions.push_back(std::move(assumption));
    if (auto decisive = launch::decisive_content(launch, gpu.machine)) answer.warnings.push_back(*std::move(decisive));
    for (auto& warning : warnings_of(gpu, answer.time.cycles)) answer.warnings.push_back(std::move(warning));
    if (auto other = code_of_another_gpu(launch, gpu.machine)) answer.warnings.push_back(*std::move(other));
    if (!launch.not_proven.empty())
        answer.warnings.push_back("the reduction of the capture may have changed the launch: " + launch.not_proven);
    if (request.compares_results) answer.differences = placed.compare(*launch.results, request.tolerance);
    if (request.after) request.after(placed);
    return answer;
}

/// As a whole where a sample of the blocks fails.
Answer simulate_with(const launch::Launch& launch, const Gpu& gpu, const SimulationRequest& request, const Plan& plan,
                     bool products) {
    try {
        return simulate_as(launch, gpu, request, plan, products);
    } catch (const sim::SamplingError&) {
        return simulate_as(launch, gpu, request, std::nullopt, products);
    }
}

}  // namespace

Answer simulate(const launch::Launch& launch, const Gpu& gpu, const SimulationRequest& request) {
    if (request.compares_results && !launch.results)
        throw InputError(
            fmt::format("the launch of '{}' has no results to compare with; capture it with --results", launch.kernel));
    const bool needs_memory = request.compares_results || request.after;
    const Plan plan = needs_memory ? std::nullopt : request.sampling;
    try {
        try {
            return simulate_with(launch, gpu, request, plan, needs_memory);
        } catch (const sim::machine_code::NeedsProducts&) {
            return simulate_with(launch, gpu, request, plan, true);
        }
    } catch (const TimeLimitError&) {
        throw;
    } catch (const DeviceError& e) {
        // A simulated GPU does not fail: what ends a launch before its time limit is the kernel's fault.
        throw Error(e.what());
    }
}

}  // namespace gputomo::answer
