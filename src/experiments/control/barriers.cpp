// Barriers of a block: their latency, whether they count threads or warps, and what happens if some threads never
// arrive.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/control/barrier_kernels.hpp"
#include "measure/kernel/doubled_timing.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gputomo::experiments {
namespace barriers {
namespace {

using ptx::Reg;
using ptx::Type;

/// Confidence of the estimates, a judgement and no measured frequency.
constexpr double kConfidence = 0.98;
constexpr std::size_t kWarp = kWarpSize, kHalf = kWarpSize / 2;
/// Launches for one latency. The median of five bears two disturbed launches; more only take longer.
constexpr int kLaunches = 5;
/// Barriers of the shorter of the two timed sequences. Reading the clock to the cycle then adds 1/32 cycle to a
/// barrier; the code of both sequences still fits the smallest first instruction cache, 4 KB (Wong 2010, IV-K).
constexpr int kLength = 32;
/// No GPU so far has larger blocks.
constexpr int kMaxThreads = 1024;
/// Blocks of up to `kEveryWarpUpTo` warps are all measured, larger ones in steps of `kWarpStep`. Smaller steps take
/// longer; wider ones leave fewer points in the plot.
constexpr int kEveryWarpUpTo = 8, kWarpStep = 4;

// ---- latency

enum class BarrierKind : std::uint8_t { block, warp };

ptx::KernelBuilder latency_kernel(ptx::Target target, BarrierKind kind) {
    ptx::KernelBuilder k(kind == BarrierKind::block ? "block_barriers" : "warp_barriers", target);
    const Reg stamps = k.param(Type::u64, "stamps");
    // A parameter, because a compiler that knows the mask of a whole warp simplifies the barrier.
    const Reg members = k.param(Type::u32, "members");
    const Reg value = k.reg(Type::u32);
    k("mov.u32", value, k.thread_index());
    append_doubled(k, {.stamps = stamps, .waited = value, .length = kLength, .append = [&](int count) {
                           k.repeat(count, [&](int) {
                               if (kind == BarrierKind::block)
                                   k("bar.sync", 0);
                               else
                                   k("bar.warp.sync", members);
                           });
                       }});
    return k;
}

class Latency {
public:
    Latency(device::Device& device, BarrierKind kind, std::string_view opcodes)
        : kernel_(device, latency_kernel(target_of(device), kind),
                  {TimedCode{.operation = {opcodes}, .counts = {kLength, 2 * kLength}}}),
          stamps_(device, kMaxThreads) {}
    [[nodiscard]] Measured of(int warps) {
        device::Arguments arguments;
        arguments.add(stamps_.address()).add(~std::uint32_t{0});
        const int threads = warps * static_cast<int>(kWarp);
        std::vector<double> samples;
        for (int i = 0; i < kLaunches; ++i) {
            kernel_.launch({1}, {static_cast<std::uint32_t>(threads)}, arguments);
            samples.push_back(stamps_.cycles_of_n(threads) / kLength);
        }
        return summarise(samples);
    }
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    CompiledKernel kernel_;
    Stamps stamps_;
};

void block_latency(Context& context, Outcome& outcome) {
    Latency latency(context.device, BarrierKind::block, "BAR");
    add_code_checks(latency.compiled(), outcome);
    results::Trace trace{.name = "barriers/latency", .experiment = "barriers"};
    trace.columns = {{"warps", "count", {}}, {"latency", "cycles", {}}};
    const int most =
        std::min(kMaxThreads, latency.compiled().properties().max_threads_per_block) / static_cast<int>(kWarp);
    for (int warps = 1; warps <= most; warps += warps < kEveryWarpUpTo ? 1 : kWarpStep) {
        const Measured cycles = latency.of(warps);
        trace.add_row(warps, cycles.value);
        if (warps == 1)
            outcome.estimates.push_back(
                decided_integer("issue.barrier_latency", cycles,
                                {"barriers: time of 64 bar.sync of one warp less that of 32", kConfidence}));
    }
    trace.plot = {"Cycles of a barrier against the warps of a block", "warps", {"latency"}, false, false};
    outcome.traces.push_back(std::move(trace));
}

void warp_latency(Context& context, Outcome& outcome) {
    constexpr const char* kPath = "issue.warp_barrier_latency";
    if (target_of(context.device).sm < kIndependentSince) {
        outcome.estimates.push_back(
            absent(kPath, {"barriers: before compute capability 7.0 the threads of a warp always execute together",
                           kAttributeConfidence}));
        return;
    }
    try {
        Latency latency(context.device, BarrierKind::warp, "WARPSYNC");
        add_code_checks(latency.compiled(), outcome);
        outcome.estimates.push_back(decided_integer(
            kPath, latency.of(1), {"barriers: time of 64 bar.warp.sync of one warp less that of 32", kConfidence}));
    } catch (const CodeMismatch& mismatch) {
        const std::string_view why = mismatch.what();
        outcome.warnings.push_back(
            fmt::format("barriers: {} was not measured: {}", kPath, why.substr(0, why.find('\n'))));
    }
}

// ---- semantics

/// Consecutive threads that execute the same code.
struct Group {
    /// The earliest arrival and the earliest departure of these threads at their barrier number `which`.
    Passage passage(std::span<const BarrierRecord> records, std::size_t which = 0) const {
        Passage result = records[first].passages[which];
        for (std::size_t t = first; t < last; ++t) {
            result.arrived = std::min(result.arrived, records[t].passages[which].arrived);
            result.left = std::min(result.left, records[t].passages[which].left);
        }
        return result;
    }
    std::size_t first = 0;
    std::size_t last = 0;
};

constexpr Group kFirstHalf{0, kHalf};
constexpr Group kSecondHalf{kHalf, kWarp};
constexpr Group kSecondWarp{kWarp, 2 * kWarp};

void add_rows(results::Trace& trace, BarrierCase which, std::span<const BarrierRecord> records) {
    for (std::size_t t = 0; t < records.size(); ++t) {
        if (!records[t].recorded) continue;
        const auto& [first, second] = records[t].passages;
        trace.add_row(static_cast<int>(which), t, first.arrived, first.left, second.arrived, second.left,
                      records[t].read_value);
    }
}

struct Granularity {
    bool threads = false;      ///< the barrier counts threads; otherwise it counts warps
    bool both_arrive = false;  ///< while one half of a warp waits at a barrier, the other half runs and arrives too
};

/// Each half of a warp arrives at a barrier of two warps at which the other warp is already. If the barrier counts
/// warps, the half that arrives first continues at once. If it counts threads, that half waits for the other one. Where
/// the other half cannot run meanwhile, the other warp arrives in its place after kBarrierPatience cycles.
Granularity granularity_of(std::span<const BarrierRecord> records) {
    const Passage a = kFirstHalf.passage(records);
    const Passage b = kSecondHalf.passage(records);
    const bool both_arrive = std::min(a.left, b.left) >= std::max(a.arrived, b.arrived);
    const Passage& earlier = a.arrived <= b.arrived ? a : b;
    return {both_arrive || earlier.left - earlier.arrived > kBarrierPatience / 2, both_arrive};
}

/// Wong 2010, Listing 7: which barriers of warp 0 and of warp 1 opened together.
std::string pairing(std::span<const BarrierRecord> records) {
    struct Side {
        int number;
        Passage passage;
    };
    const Side of_0[] = {{1, kFirstHalf.passage(records)}, {2, kSecondHalf.passage(records)}};
    const Side of_1[] = {{3, kSecondWarp.passage(records, 0)}, {4, kSecondWarp.passage(records, 1)}};
    std::vector<std::string> pairs;
    for (const auto& mine : of_0)
        for (const auto& other : of_1)
            if (mine.passage.arrived <= other.passage.left && other.passage.arrived <= mine.passage.left)
                pairs.push_back(fmt::format("{} with {}", mine.number, other.number));
    return fmt::format("{}", fmt::join(pairs, ", "));
}

std::string outcome_of_listings(Context& context, const Granularity& granularity, results::Trace& trace) {
    const auto records_of = [&](BarrierCase which) {
        auto records = run_barrier_case(context.device, which);
        add_rows(trace, which, records);
        return records;
    };
    std::vector<std::string> notes;
    if (!granularity.threads || granularity.both_arrive) {
        const auto five = records_of(BarrierCase::listing_5);
        const auto stale =
            std::count_if(five.begin() + kHalf, five.end(), [](const auto& r) { return r.read_value == 0; });
        notes.push_back(fmt::format("Listing 5: no deadlock, {} of {} threads read old values", stale, kHalf));
        notes.push_back(fmt::format("Listing 7: {}", pairing(records_of(BarrierCase::listing_7))));
    } else {
        notes.emplace_back(
            "Listings 5 and 7 were not run, because a waiting half of a warp keeps the other half from running");
    }
    const auto six = records_of(BarrierCase::listing_6);
    notes.push_back(fmt::format("Listing 6: {}", six[kWarp].read_value == 0 ? "deadlocks" : "completes"));
    const Passage alone = Group{0, kWarp}.passage(records_of(BarrierCase::warp_ends));
    const Passage rest = kSecondHalf.passage(records_of(BarrierCase::threads_end));
    const bool waited_for = std::max(alone.left - alone.arrived, rest.left - rest.arrived) > kBarrierPatience / 2;
    notes.emplace_back(waited_for ? "the barrier waits for warps or threads that ended"
                                  : "the barrier does not wait for warps and threads that ended");
    return fmt::format("{}", fmt::join(notes, "; "));
}

void semantics(Context& context, Outcome& outcome) {
    results::Trace trace{.name = "barriers/cases", .experiment = "barriers"};
    trace.columns = {{"case", "row", {}},
                     {"thread", "", {}},
                     {"arrived", "cycles", {}},
                     {"left", "cycles", {}},
                     {"arrived_again", "cycles", {}},
                     {"left_again", "cycles", {}},
                     {"seen", "", {}}};
    const auto records = run_barrier_case(context.device, BarrierCase::halves);
    add_rows(trace, BarrierCase::halves, records);
    const Granularity granularity = granularity_of(records);
    const std::string note = outcome_of_listings(context, granularity, trace);
    outcome.estimates.push_back(decided(
        "issue.barrier_granularity", std::string(granularity.threads ? "thread" : "warp"),
        {"barriers: times at which the halves of a warp leave barriers on two sides of a branch", kConfidence, note}));
    outcome.traces.push_back(std::move(trace));
}

Outcome measure(Context& context) {
    Outcome outcome;
    context.progress(0, "latency of barriers");
    block_latency(context, outcome);
    context.progress(0.4, "barriers within a warp");
    warp_latency(context, outcome);
    context.progress(0.6, "barriers at which not all threads arrive");
    semantics(context, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace barriers

Experiment barriers_experiment() {
    return {
        .id = "barriers",
        .title = "barriers: latency against warps, whether they count threads or warps, divergent arrival, early ends",
        .source = "Wong 2010, IV-D, Listings 5 to 7",
        .method = "control-flow-and-barriers",
        .explanation =
            "Warps read the clock before and after barriers, with more and more warps in the block. Then "
            "parts of warps arrive late or not at all, which shows whether a barrier counts threads or warps.",
        .needs = {},
        .provides = {"issue.barrier_latency", "issue.barrier_granularity", "issue.warp_barrier_latency"},
        .run = barriers::run};
}

}  // namespace gputomo::experiments
