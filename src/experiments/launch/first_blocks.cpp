// How fast the first blocks of a launch start: on the SMs one after the other, and on one SM.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace gputomo::experiments {
namespace first_blocks {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// Cycles that a block runs, so that all blocks have started when the first one ends.
constexpr std::uint32_t kBlockCycles = 20'000;
/// Launches, of which the first one brings the code. An H200's timer has steps of 32 ns; the mean over 24 launches is
/// known to some 3 ns.
constexpr int kLaunches = 25;
/// Blocks of an SM in the launch that compares starts on one SM. Four of one warp fit on every GPU so far.
constexpr std::uint32_t kBlocksPerSm = 4;

struct BlockRecord {
    std::uint64_t timer = 0;
    std::uint32_t sm = 0, start = 0;
};

/// Records timer, clock and SM at a block's start, and waits.
ptx::KernelBuilder starting_kernel(ptx::Target target) {
    ptx::KernelBuilder k("first_blocks", target);
    const Reg start = k.entry_clock32();
    const Reg timer = k.special(SpecialRegister::globaltimer);
    const Reg records = k.param(Type::u64, "records");
    const Reg cycles = k.param(Type::u32, "cycles");
    const Reg mine = k.element(records, k.special(SpecialRegister::ctaid_x), Bytes{sizeof(BlockRecord)});
    k("st.global.u64", Mem{mine}, timer);
    k("st.global.u32", Mem{mine, 8}, k.special(SpecialRegister::smid));
    k("st.global.u32", Mem{mine, 12}, start);
    const Reg spent = k.reg(Type::u32);
    const Reg more = k.reg(Type::pred);
    k.while_(
        [&] {
            k("sub.u32", spent, k.clock32(), start);
            k("setp.lt.u32", more, spent, cycles);
            return ptx::Condition(more);
        },
        [] {});
    return k;
}

/// Nanoseconds from the first to the last start.
double spread(const std::vector<BlockRecord>& records) {
    const auto [first, last] = std::ranges::minmax(records, {}, &BlockRecord::timer);
    return static_cast<double>(last.timer - first.timer);
}

/// Cycles between starts on one SM, of blocks that were on it together.
std::vector<double> gaps(const std::vector<BlockRecord>& records) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_sm;
    for (const BlockRecord& record : records) by_sm[record.sm].push_back(record.start);
    std::vector<double> all;
    for (auto& [sm, starts] : by_sm) {
        std::ranges::sort(starts,
                          [&](std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; });
        for (std::size_t i = 1; i < starts.size(); ++i)
            if (const std::uint32_t gap = starts[i] - starts[i - 1]; gap < kBlockCycles) all.push_back(gap);
    }
    return all;
}

Outcome measure(Context& context) {
    Outcome outcome;
    auto& device = context.device;
    const std::uint32_t sms = sms_of(device);
    CompiledKernel kernel(device, starting_kernel(target_of(device)), {ReadInLoop{}});
    add_code_checks(kernel, outcome);
    const device::Buffer buffer(device, Bytes{static_cast<std::int64_t>(sms * kBlocksPerSm * sizeof(BlockRecord))});
    device::Arguments arguments;
    arguments.add(buffer.address()).add(kBlockCycles);
    const auto launch = [&](std::uint32_t blocks) {
        kernel.launch({blocks}, {1}, arguments);
        return buffer.read<BlockRecord>(blocks);
    };
    results::Trace trace{.name = "first_blocks/spread", .experiment = "first_blocks"};
    trace.columns = {{"launch", "count", {}}, {"spread", "ns", {}}};
    std::set<std::uint64_t> times;
    double used = 0;
    for (int i = 0; i < kLaunches; ++i) {
        context.progress(0.8 * i / kLaunches, "first blocks of all SMs");
        const auto records = launch(sms);
        if (i == 0) continue;
        for (const BlockRecord& record : records) times.insert(record.timer);
        std::set<std::uint32_t> places;
        for (const BlockRecord& record : records) places.insert(record.sm);
        used = static_cast<double>(places.size());
        trace.add_row(i, spread(records));
    }
    trace.plot = {"From the first to the last start", "launch", {"spread"}, false, false};
    const auto& spreads = trace.columns[1].values;
    double sum = 0;
    for (const double one : spreads) sum += one;
    const double mean = sum / static_cast<double>(spreads.size());
    double step = 0;
    for (auto next = times.begin(); next != times.end(); ++next)
        if (const auto before = next; next != times.begin())
            if (const auto apart = static_cast<double>(*before - *std::prev(before)); step == 0 || apart < step)
                step = apart;
    const Evidence by_timer{"first_blocks: from the first to the last start of a block on each SM, by the timer",
                            kConfidence};
    const double interval = used > 1 ? mean * current_sm_mhz(device) / 1000 / (used - 1) : 0;
    if (mean == 0)
        outcome.estimates.push_back(absent("launch.first_block_interval", by_timer));
    else if (mean < step || used < 2)
        outcome.estimates.push_back(undecided("launch.first_block_interval", {}, by_timer));
    else
        outcome.estimates.push_back(decided("launch.first_block_interval", interval, by_timer));
    context.progress(0.9, "blocks of one SM");
    const auto apart = gaps(launch(sms * kBlocksPerSm));
    const Evidence on_sm{"first_blocks: median time between two starts on one SM", kConfidence};
    if (apart.empty())
        outcome.estimates.push_back(undecided("launch.next_block_interval", {}, on_sm));
    else
        outcome.estimates.push_back(decided("launch.next_block_interval", median(apart), on_sm));
    outcome.traces.push_back(std::move(trace));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace first_blocks

Experiment first_blocks_experiment() {
    return {.id = "first_blocks",
            .title = "time between the starts of a launch's first blocks, on different SMs and on one",
            .source = "Volkov 2016, 5.8",
            .method = "registers-and-launch",
            .explanation =
                "Blocks record the GPU's timer, the clock of their SM and its number, and then wait until all have "
                "started. The timer shows how long the GPU takes to reach all SMs. The clock of an SM shows how far "
                "apart its blocks start.",
            .needs = {},
            .provides = {"launch.first_block_interval", "launch.next_block_interval"},
            .run = first_blocks::run};
}

}  // namespace gputomo::experiments
