// Issue, pipelines, operations and shared memory of random machines.
#include "validate/machine_maker.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace gputomo::validate {

void MachineMaker::issue_and_arithmetic() {
    /// Lanes of the main pipeline, and the schedulers that feed them.
    struct Width {
        std::int64_t lanes, schedulers, interval, dual;
    };
    static constexpr std::array kWidths{Width{8, 1, 2, 1},  Width{16, 1, 2, 1},  Width{16, 1, 1, 1},
                                        Width{32, 1, 1, 1}, Width{32, 2, 2, 1},  Width{64, 2, 1, 1},
                                        Width{64, 4, 1, 1}, Width{128, 4, 1, 1}, Width{192, 4, 1, 2}};
    const auto width = dice_.one_of(kWidths);
    auto& issue = machine_.issue;
    set(issue.schedulers_per_sm, width.schedulers);
    set(issue.issue_interval, static_cast<double>(width.interval));
    set(issue.dual_issue, width.dual);
    set(issue.first_path, std::string(dice_.chance(50) ? "taken" : "fall-through"));
    set(issue.barrier_latency, dice_.between(10, 50));

    // The instructions of a multiplication depend on each other, so only other warps hide their latency. Experiments
    // run it in a single block, so the warps of one block must suffice.
    const std::int64_t multiply = dice_.chance(60) || width.dual > 1 ? 1 : dice_.between(2, 4);
    const auto warps =
        (multiply == 1 ? *machine_.topology.max_threads_per_sm : *machine_.topology.max_threads_per_block) / kWarp;
    std::int64_t shortest = 60;
    const auto pipeline = [&](const char* name, std::int64_t lanes) {
        // Little's law: `warps` warps hide at most this latency.
        const auto longest = std::min<std::int64_t>(60, std::max<std::int64_t>(4, warps * kWarp * 4 / 5 / lanes));
        // The last thread of a warp enters the pipeline this many cycles after the first.
        const auto entering = (kWarp * width.schedulers + lanes - 1) / lanes;
        const auto latency = std::max(entering, dice_.between(std::min<std::int64_t>(longest, 4), longest));
        shortest = std::min(shortest, latency);
        set(machine_.pipelines[name].lanes, static_cast<double>(lanes));
        set(machine_.pipelines[name].latency, latency);
    };
    pipeline("sp", width.lanes);
    pipeline("sfu", std::max<std::int64_t>(2, width.lanes / dice_.one_of(std::array<std::int64_t, 3>{4, 8, 16})));
    pipeline("dpu", std::max<std::int64_t>(1, width.lanes / dice_.one_of(std::array<std::int64_t, 4>{2, 3, 8, 32})));
    set(issue.ilp_latency, dice_.between(1, std::max<std::int64_t>(1, shortest / 2)));
    control_flow();
    if (width.schedulers > 1)
        for (const char* name : {"sfu", "dpu"})
            set(machine_.pipelines[name].scope, dice_.chance(50) ? "sm" : "scheduler");

    for (const char* key : {"add.s32", "add.f32", "mul.f32", "fma.rn.f32"}) operation(key, "sp", 1);
    operation("mul.lo.s32", "sp", multiply);
    operation("mad.lo.s32", "sp", multiply == 1 ? 1 : multiply + 1);
    for (const char* key : {"add.f64", "mul.f64", "fma.rn.f64"}) operation(key, "dpu", 1);
    operation("rsqrt.approx.f32", "sfu", 1);
    auto& sfu = machine_.pipelines["sfu"];
    // The result of a warp is ready when that of its last thread is.
    const auto entering =
        static_cast<std::int64_t>(std::ceil(kWarp * static_cast<double>(width.schedulers) / *sfu.lanes));
    set(sfu.forward_latency, std::max({entering, *issue.ilp_latency, *sfu.latency + dice_.between(-6, 3)}));
}

void MachineMaker::control_flow() {
    auto& issue = machine_.issue;
    const bool independent = *issue.divergence == "independent";
    // A latency below the interval at which a warp may issue would not show.
    const auto least = std::max(*issue.ilp_latency, static_cast<std::int64_t>(*issue.issue_interval));
    set(issue.reconvergence, "post-dominator");
    set(issue.spin_within_warp, independent ? "completes" : "deadlocks");
    set(issue.barrier_latency, std::max(*issue.barrier_latency, least));
    set(issue.barrier_granularity, independent || dice_.chance(20) ? "thread" : "warp");
    if (independent) set(issue.warp_barrier_latency, dice_.between(least, 40));
    set(issue.branch_latency_taken, dice_.between(least, 40));
    set(issue.branch_latency_untaken, dice_.between(least, *issue.branch_latency_taken));
}

void MachineMaker::operation(const std::string& key, const std::string& unit, std::int64_t instructions) {
    const auto& pipeline = machine_.pipelines.at(unit);
    auto& operation = machine_.operations[key];
    set(operation.latency, *pipeline.latency * instructions);
    set(operation.throughput, *pipeline.lanes / static_cast<double>(instructions));
    set(operation.instructions, instructions);
    set(operation.units, {unit});
}

void MachineMaker::shared() {
    auto& shared = machine_.shared;
    const auto usual_banks = dice_.chance(30) ? 16 : 32;
    const auto width = dice_.chance(75) ? 4 : 8;
    const bool usual = !dice_.chance(20);
    const auto banks = usual ? usual_banks : dice_.one_of(std::array{8, 12, 24, 64});
    const auto rate = banks * width / (dice_.chance(30) ? 2 : 1);
    const auto capacity = dice_.one_of(std::array<std::int64_t, 4>{16, 48, 64, 96}) * kKiB;
    set(shared.capacity, capacity);
    set(shared.max_per_block, std::min(capacity, 48 * kKiB));
    set(shared.allocation_unit, dice_.one_of(std::array<std::int64_t, 3>{128, 256, 512}));
    set(shared.block_overhead, dice_.one_of(std::array<std::int64_t, 3>{0, 16, 1024}));
    set(shared.argument_overhead, dice_.chance(50) ? 0 : 4);
    set(shared.banks, banks);
    set(shared.bank_width, width);
    set(shared.row_words, dice_.chance(20) ? 2 : 1);
    // A group of more words than there are banks would always conflict, and no access would show the full rate.
    auto group = usual ? banks : dice_.one_of(std::array{8, 16, 32});
    while (group * 4 > banks * width) group /= 2;
    set(shared.access_group, group);
    set(shared.latency, dice_.between(15, 60));
    set(shared.forward_latency, std::max(*machine_.issue.ilp_latency, *shared.latency + dice_.between(-6, 3)));
    set(shared.bytes_per_cycle, static_cast<double>(rate));
    // A further way of a conflict costs a warp at least the time for which it occupies the banks.
    const auto busy = (kWarp * 4 + rate - 1) / rate;
    set(shared.conflict_cost, busy * dice_.one_of(std::array<std::int64_t, 4>{1, 2, 4, 8}));
}

}  // namespace gputomo::validate
