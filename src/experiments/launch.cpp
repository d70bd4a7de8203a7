// What starting a kernel costs, and what starting the next block on an SM costs.
#include "experiments/experiments.hpp"

#include "experiments/clock_watch.hpp"
#include "experiments/compiled_kernel.hpp"
#include "experiments/estimates.hpp"
#include "experiments/residency.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace gputomo::experiments {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

constexpr double kConfidence = 0.95;
constexpr int kEmptyLaunches = 50;
constexpr int kDroppedLaunches = 5;
/// Blocks an SM, one after the other.
constexpr std::uint32_t kBlocksPerSm = 8;
/// A block lives this long, so that all first blocks have started when the first ends.
constexpr std::uint32_t kBlockCycles = 20'000;

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

/// Records start, SM and end of each block; the block spins in between. The last clock read and its store come twice: the
/// time from one read to the other is what the second read and store take between the end and the exit.
ptx::KernelBuilder block_kernel(ptx::Target target) {
    ptx::KernelBuilder k("block_times", target);
    const Reg start = k.entry_clock32();
    const Reg records = k.param(Type::u64, "records");
    const Reg cycles = k.param(Type::u32, "cycles");
    static_cast<void>(k.dynamic_shared());
    const Reg mine = k.element(records, k.special(SpecialRegister::ctaid_x), Bytes{sizeof(BlockRecord)});
    k("st.global.u32", Mem{mine}, k.special(SpecialRegister::smid));
    k("st.global.u32", Mem{mine, 4}, start);
    const Reg spent = k.reg(Type::u32);
    const Reg more = k.reg(Type::pred);
    k.while_(
        [&] {
            k("sub.u32", spent, k.clock32(), start);
            k("setp.lt.u32", more, spent, cycles);
            return ptx::Condition(more);
        },
        [] {});
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

/// More than half of an SM's shared memory, so that one block is there at a time; as much as a block may have otherwise.
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

/// From the end of a block to the start of the one that takes its place: with r blocks at a time on an SM, the i-th to
/// start follows the (i - r)-th to end. What a block still does after its last clock read is taken off.
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
    const auto sms = static_cast<std::uint32_t>(device.attribute(multiprocessor_count).value_or(1));
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

Outcome measure(Context& context) {
    Outcome outcome;
    const Measured empty = empty_launches(context);
    const Evidence by_events{"launch: median of 50 empty kernels of one thread, by events", kConfidence};
    // A launch takes time; where the events say none (a simulated GPU whose description has no value), nothing was learnt.
    outcome.estimates.push_back(empty.value > 0 ? decided_real("launch.empty_kernel", empty, by_events)
                                                : undecided("launch.empty_kernel", {}, by_events));
    const auto gaps = measure_replacement(context, outcome);
    if (gaps.empty()) {
        outcome.warnings.emplace_back("launch: no SM ran two blocks after each other");
        return outcome;
    }
    deduce::Trace trace{.name = "launch/block_replacement", .experiment = "launch"};
    trace.columns = {{"gap", "cycles", gaps}};
    outcome.traces.push_back(std::move(trace));
    const Measured gap = summarise(gaps);
    auto estimate = decided("launch.block_replacement", static_cast<std::int64_t>(std::llround(gap.value)),
                            {"launch: median gap between the end of a block and the start of the next on its SM", kConfidence});
    estimate.interval = {gap.low, gap.high};
    outcome.estimates.push_back(std::move(estimate));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

Experiment launch_experiment() {
    return {.id = "launch",
            .title = "time of an empty kernel, and from the end of a block to the next one's start",
            .source = "Volkov 2016, 5.8",
            .needs = {},
            .provides = {"launch.empty_kernel", "launch.block_replacement"},
            .run = run};
}

}  // namespace gputomo::experiments
