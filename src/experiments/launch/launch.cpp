// The time to start a kernel, and to start the next block on an SM.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/launch/waiting.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/device_facts.hpp"
#include "measure/residency/resident_blocks.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace gputomo::experiments {
namespace launch {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.95;
constexpr int kEmptyLaunches = 50;
constexpr int kDroppedLaunches = 5;
/// Blocks that each SM runs one after the other.
constexpr std::uint32_t kBlocksPerSm = 8;
/// Cycles that a block runs, so that all first blocks have started when the first one ends.
constexpr std::uint32_t kBlockCycles = 20'000;
/// Empty blocks on each SM of a grid, with a small and with a full budget. More blocks make a launch's own time a
/// smaller part of the total.
constexpr std::int64_t kFewBlocks = 64, kManyBlocks = 8192;
constexpr int kStartLaunches = 3;
/// If starts take more than this many times the blocks' own replacement, something else limits them.
constexpr double kLimited = 1.5;

ptx::KernelBuilder empty_kernel(ptx::Target target) {
    ptx::KernelBuilder k("empty", target);
    k("ret");
    return k;
}

struct BlockRecord {
    std::uint32_t sm = 0;
    std::uint32_t start = 0;
    std::uint32_t before_store = 0;
    std::uint32_t end = 0;
};

/// Records start, SM and end of each block, which spins in between. The last clock read and its store come twice. The
/// time from one read to the other is that of the second read and store, which lie between the recorded end and the
/// exit.
ptx::KernelBuilder block_kernel(ptx::Target target) {
    ptx::KernelBuilder k("block_times", target);
    const Reg start = k.entry_clock32();
    const Reg records = k.param(Type::u64, "records");
    const Reg cycles = k.param(Type::u32, "cycles");
    static_cast<void>(k.dynamic_shared());
    const Reg mine = k.element(records, k.special(SpecialRegister::ctaid_x), Bytes{sizeof(BlockRecord)});
    k("st.global.u32", Mem{mine}, k.special(SpecialRegister::smid));
    k("st.global.u32", Mem{mine, 4}, start);
    wait_since(k, start, cycles);
    k("st.global.u32", Mem{mine, 8}, k.clock32());
    k("st.global.u32", Mem{mine, 12}, k.clock32());
    return k;
}

Measured empty_launches(Context& context) {
    CompiledKernel kernel(context.device, empty_kernel(target_of(context.device)));
    std::vector<double> samples;
    for (int i = 0; i < kDroppedLaunches + kEmptyLaunches; ++i) {
        const double elapsed = kernel.launch({1}, {1}, {}).elapsed.count();
        if (i >= kDroppedLaunches) samples.push_back(elapsed);
        context.progress(0.5 * i / (kDroppedLaunches + kEmptyLaunches), "empty kernels");
    }
    return summarise(samples);
}

/// More than half of an SM's shared memory, so that one block is resident at a time, or as much as a block may have.
Bytes much_shared_memory(const device::Device& device) {
    using enum device::Attribute;
    const auto per_sm = device.attribute(max_shared_memory_per_multiprocessor).value_or(16384);
    const auto per_block = device.attribute(max_shared_memory_per_block).value_or(16384);
    return Bytes{std::min(per_sm / 2 + 1024, per_block - 512)};
}

std::uint32_t blocks_that_fit(const device::Device& device, Bytes shared) {
    const auto per_sm = device.attribute(device::Attribute::max_shared_memory_per_multiprocessor).value_or(16384);
    return static_cast<std::uint32_t>(std::max<std::int64_t>(1, per_sm / shared.count()));
}

/// Cycles from the end of a block to the start of the one that replaces it. With r resident blocks, the i-th start
/// follows the (i - r)-th end. The time that a block still runs after its last clock read is subtracted.
std::vector<double> replacement_gaps(const std::vector<BlockRecord>& records) {
    std::map<std::uint32_t, std::vector<BlockRecord>> by_sm;
    for (const BlockRecord& record : records) by_sm[record.sm].push_back(record);
    std::vector<double> tails;
    for (const BlockRecord& record : records) tails.push_back(static_cast<double>(record.end - record.before_store));
    const double tail = summarise(tails).value;
    std::vector<double> gaps;
    for (const auto& [sm, blocks] : by_sm) {
        std::vector<std::int32_t> starts;
        std::vector<std::int32_t> ends;
        for (const BlockRecord& block : blocks) {
            starts.push_back(static_cast<std::int32_t>(block.start - blocks.front().start));
            ends.push_back(static_cast<std::int32_t>(block.end - blocks.front().start));
        }
        std::ranges::sort(starts);
        std::ranges::sort(ends);
        const std::size_t resident = most_at_once(starts, ends);
        for (std::size_t i = resident; i < starts.size(); ++i) gaps.push_back(starts[i] - ends[i - resident] - tail);
    }
    return gaps;
}

std::vector<double> measure_replacement(Context& context, Outcome& outcome) {
    using enum device::Attribute;
    auto& device = context.device;
    const auto sms = sms_of(device);
    const Bytes shared = much_shared_memory(device);
    const std::uint32_t blocks = sms * kBlocksPerSm * blocks_that_fit(device, shared);
    CompiledKernel kernel(device, block_kernel(target_of(device)), {ReadInLoop{}});
    add_code_checks(kernel, outcome);
    const device::Buffer records(device, Bytes{static_cast<std::int64_t>(blocks * sizeof(BlockRecord))});
    device::Arguments arguments;
    arguments.add(records.address()).add(kBlockCycles);
    kernel.launch({blocks}, {1}, arguments, shared);
    context.progress(0.75, "replacement of blocks");
    kernel.launch({blocks}, {1}, arguments, shared);
    return replacement_gaps(records.read<BlockRecord>(blocks));
}

/// Cycles of one SM for an empty block of `warps` warps, from the difference between a long grid and its half.
double cycles_of_block(const Context& context, CompiledKernel& kernel, int warps) {
    auto& device = context.device;
    const std::int64_t sms = sms_of(device);
    const double mhz = current_sm_mhz(device);
    const auto nanoseconds = [&](std::int64_t blocks) {
        std::vector<double> samples;
        for (int i = 0; i < kStartLaunches; ++i)
            samples.push_back(
                kernel.launch({static_cast<std::uint32_t>(blocks)}, {static_cast<std::uint32_t>(warps * kWarpSize)}, {})
                    .elapsed.count());
        return std::ranges::min(samples);
    };
    std::int64_t each = kFewBlocks;
    static_cast<void>(nanoseconds(each * sms));
    if (context.budget == Budget::full &&
        device.attribute(device::Attribute::max_grid_x).value_or(0) > 2 * kManyBlocks * sms)
        each = kManyBlocks;
    return (nanoseconds(2 * each * sms) - nanoseconds(each * sms)) * mhz / 1000 / static_cast<double>(each);
}

/// Adds launch.block_interval and launch.warp_interval. Empty blocks may start no faster than one in a fixed time of
/// the whole GPU, or than one warp in a fixed time of an SM. If the blocks' own ends and starts do not explain this,
/// starting is the limit.
void add_starts(Context& context, double replacement, Outcome& outcome) {
    auto& device = context.device;
    CompiledKernel kernel(device, empty_kernel(target_of(device)));
    const auto sms = static_cast<double>(sms_of(device));
    const auto most_threads = device.attribute(device::Attribute::max_threads_per_multiprocessor).value_or(1024);
    const auto most_blocks = device.attribute(device::Attribute::max_blocks_per_multiprocessor).value_or(8);
    results::Trace trace{.name = "launch/starts", .experiment = "launch"};
    trace.columns = {{"warps", "warp/block", {}}, {"cycles", "cycles/block/SM", {}}, {"own", "cycles/block/SM", {}}};
    for (int warps = 1; warps * kWarpSize <= kernel.properties().max_threads_per_block; warps *= 2) {
        context.progress(0.9, fmt::format("empty blocks of {} warps", warps));
        const auto resident =
            static_cast<double>(std::max<std::int64_t>(1, std::min(most_blocks, most_threads / (warps * kWarpSize))));
        trace.add_row(warps, cycles_of_block(context, kernel, warps), replacement / resident);
    }
    trace.plot = {"Cycles of an SM for an empty block", "warps", {"cycles", "own"}, false, false};
    const auto& cycles = trace.columns[1].values;
    const auto limited = [&](std::size_t i) { return cycles[i] > kLimited * trace.columns[2].values[i]; };
    const Evidence evidence{"launch: time of grids of empty blocks, from 1 warp to the largest block", kConfidence,
                            "compared with the time from the end of a block to the start of the next"};
    const bool small = limited(0), large = limited(cycles.size() - 1);
    // The smallest blocks load what all SMs share the most, the largest ones what each SM has of its own.
    outcome.estimates.push_back(small ? decided("launch.block_interval", cycles.front() / sms, evidence)
                                      : absent("launch.block_interval", evidence));
    const double each = cycles.back() / trace.columns[0].values.back();
    if (!large)
        outcome.estimates.push_back(absent("launch.warp_interval", evidence));
    else if (cycles.back() > kLimited * cycles.front())
        outcome.estimates.push_back(decided("launch.warp_interval", each, evidence));
    outcome.traces.push_back(std::move(trace));
}

Outcome measure(Context& context) {
    Outcome outcome;
    const Measured empty = empty_launches(context);
    const Evidence by_events{"launch: median of 50 empty kernels of one thread, by events", kConfidence};
    // A launch takes time. If the events show none, as with a description that has no value, the time stays undecided.
    outcome.estimates.push_back(empty.value > 0 ? decided_real("launch.empty_kernel", empty, by_events)
                                                : undecided("launch.empty_kernel", {}, by_events));
    const auto gaps = measure_replacement(context, outcome);
    if (gaps.empty()) {
        outcome.warnings.emplace_back(
            "launch: block replacement was not measured, because no SM ran two blocks one after the other");
        return outcome;
    }
    results::Trace trace{.name = "launch/block_replacement", .experiment = "launch"};
    trace.columns = {{"gap", "cycles", gaps}};
    outcome.traces.push_back(std::move(trace));
    const Measured gap = summarise(gaps);
    auto estimate =
        decided("launch.block_replacement", static_cast<std::int64_t>(std::llround(gap.value)),
                {"launch: median gap between the end of a block and the start of the next on its SM", kConfidence});
    estimate.interval = {gap.low, gap.high};
    outcome.estimates.push_back(std::move(estimate));
    add_starts(context, gap.value, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace launch

Experiment launch_experiment() {
    return {.id = "launch",
            .title = "time of an empty kernel, and from the end of a block to the next one's start",
            .source = "Volkov 2016, 5.8",
            .method = "registers-and-launch",
            .explanation =
                "Empty kernels are launched back to back for the time of a launch. In a longer launch, the clock "
                "shows the gap between the end of a block and the start of the next one on its SM.",
            .needs = {},
            .provides = {"launch.empty_kernel", "launch.block_replacement", "launch.block_interval",
                         "launch.warp_interval"},
            .run = launch::run};
}

}  // namespace gputomo::experiments
