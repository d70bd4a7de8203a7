// How fast the first blocks of a launch start: on the SMs one after the other, and on one SM.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/launch/waiting.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

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
/// Blocks of an SM in the launch that compares starts on one SM. Four of `kThreads` fit on every GPU so far.
constexpr std::uint32_t kBlocksPerSm = 4;

/// Threads of a block. An H200 takes 124 cycles to start a block of one warp on each SM, and about 220 for blocks of 4
/// warps and more.
constexpr std::uint32_t kThreads = 128;

struct BlockRecord {
    std::uint64_t timer = 0;
    std::uint32_t sm = 0, start = 0;
};

/// The first thread of each block records timer, clock and SM at its start, and waits.
ptx::KernelBuilder starting_kernel(ptx::Target target) {
    ptx::KernelBuilder k("first_blocks", target);
    const Reg start = k.entry_clock32();
    const Reg timer = k.special(SpecialRegister::globaltimer);
    const Reg records = k.param(Type::u64, "records");
    const Reg cycles = k.param(Type::u32, "cycles");
    const Reg mine = k.element(records, k.special(SpecialRegister::ctaid_x), Bytes{sizeof(BlockRecord)});
    const Reg sm = k.special(SpecialRegister::smid), first = k.reg(Type::pred);
    k("setp.eq.u32", first, k.special(SpecialRegister::tid_x), 0);
    k.when(first)("st.global.u64", Mem{mine}, timer);
    k.when(first)("st.global.u32", Mem{mine, 8}, sm);
    k.when(first)("st.global.u32", Mem{mine, 12}, start);
    wait_since(k, start, cycles);
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

/// The smallest time between two of these that differ; 0 where none do.
double step_of(const std::set<std::uint64_t>& times) {
    double step = 0;
    std::uint64_t before = times.empty() ? 0 : *times.begin();
    for (const std::uint64_t time : times) {
        const auto apart = static_cast<double>(time - before);
        if (apart > 0 && (step == 0 || apart < step)) step = apart;
        before = time;
    }
    return step;
}

results::Estimate between_sms(const std::vector<double>& spreads, double step, std::size_t sms, double sm_mhz) {
    const Evidence evidence{"first_blocks: from the first to the last start of a block on each SM, by the timer",
                            kConfidence};
    constexpr std::string_view kLeaf = "launch.first_block_interval";
    const double mean = std::accumulate(spreads.begin(), spreads.end(), 0.0) / static_cast<double>(spreads.size());
    if (mean == 0) return absent(std::string(kLeaf), evidence);
    if (mean < step || sms < 2) return undecided(std::string(kLeaf), {}, evidence);
    return decided(std::string(kLeaf), mean * sm_mhz / 1000 / static_cast<double>(sms - 1), evidence);
}

results::Estimate on_one_sm(const std::vector<double>& gaps) {
    const Evidence evidence{"first_blocks: median time between two starts on one SM", kConfidence};
    constexpr std::string_view kLeaf = "launch.next_block_interval";
    if (gaps.empty()) return undecided(std::string(kLeaf), {}, evidence);
    return decided(std::string(kLeaf), median(gaps), evidence);
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
        kernel.launch({blocks}, {kThreads}, arguments);
        return buffer.read<BlockRecord>(blocks);
    };
    results::Trace trace{.name = "first_blocks/spread", .experiment = "first_blocks"};
    trace.columns = {{"launch", "count", {}}, {"spread", "ns", {}}};
    std::set<std::uint64_t> times;
    std::set<std::uint32_t> used;  // SMs of the last launch
    for (int i = 0; i < kLaunches; ++i) {
        context.progress(0.8 * i / kLaunches, "first blocks of all SMs");
        const auto records = launch(sms);
        if (i == 0) continue;
        used.clear();
        for (const BlockRecord& record : records) times.insert(record.timer), used.insert(record.sm);
        trace.add_row(i, spread(records));
    }
    trace.plot = {"From the first to the last start", "launch", {"spread"}, false, false};
    outcome.estimates.push_back(
        between_sms(trace.columns[1].values, step_of(times), used.size(), current_sm_mhz(device)));
    context.progress(0.9, "blocks of one SM");
    outcome.estimates.push_back(on_one_sm(gaps(launch(sms * kBlocksPerSm))));
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
