// How much of its SM's shared memory a block takes, from the most that each of k blocks can ask for while k are
// resident together.
#include "experiments/experiments.hpp"

#include "measure/residency/resident_blocks.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace gputomo::experiments {
namespace shared_allocation {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.97;
/// Numbers of blocks, chosen so that their shares of a capacity are rounded differently to its units.
constexpr int kBlocks[] = {2, 3, 5, 6, 7, 9, 11, 13};
/// Most bytes that unit and overhead take together; no GPU so far takes as much.
constexpr std::int64_t kMostLost = 4096;
constexpr std::int64_t kLargestUnit = 4096;
constexpr int kExtraArguments = 16;
/// Bytes that these further arguments may take.
constexpr std::int64_t kMostForArguments = 16 * kExtraArguments;

using Shares = std::map<int, std::int64_t>;  ///< blocks -> most bytes that each can ask for

class SharedAllocation {
public:
    explicit SharedAllocation(Context& context)
        : context_(context),
          plain_(context.device, {}),
          with_arguments_(context.device, {.extra_arguments = kExtraArguments}) {
        using enum device::Attribute;
        const auto& device = context.device;
        capacity_ = device.attribute(max_shared_memory_per_multiprocessor).value_or(16384);
        const auto opted_in = device.attribute(max_shared_memory_per_block_optin);
        most_of_block_ = opted_in ? *opted_in : device.attribute(max_shared_memory_per_block).value_or(16384);
        most_blocks_ = device.attribute(max_blocks_per_multiprocessor).value_or(8);
    }
    Outcome measure();

private:
    /// Most bytes from `low` to `high` with which `blocks` blocks are resident together; nothing if even `low` is too
    /// much.
    [[nodiscard]] std::optional<std::int64_t> most_bytes(ResidencyProbe& kernel, int blocks, std::int64_t low,
                                                         std::int64_t high);
    [[nodiscard]] Shares shares();
    void conclude(const Shares& shares, std::optional<std::int64_t> for_arguments, Outcome& outcome) const;

    Context& context_;
    ResidencyProbe plain_;
    ResidencyProbe with_arguments_;
    std::int64_t capacity_ = 0;
    std::int64_t most_of_block_ = 0;
    std::int64_t most_blocks_ = 0;
};

std::optional<std::int64_t> SharedAllocation::most_bytes(ResidencyProbe& kernel, int blocks, std::int64_t low,
                                                         std::int64_t high) {
    const auto fits = [&](std::int64_t bytes) {
        return kernel.blocks_per_sm(kWarpSize, Bytes{bytes}, blocks) >= blocks;
    };
    if (!fits(low)) return std::nullopt;
    while (high - low > 1) {
        const auto middle = (low + high) / 2;
        (fits(middle) ? low : high) = middle;
    }
    return low;
}

Shares SharedAllocation::shares() {
    Shares shares;
    double done = 0;
    for (const int blocks : kBlocks) {
        context_.progress(done++ / std::size(kBlocks), "shared memory of blocks");
        const auto share = capacity_ / blocks;
        if (blocks > most_blocks_ || share >= most_of_block_) continue;
        if (const auto bytes = most_bytes(plain_, blocks, std::max<std::int64_t>(0, share - kMostLost), share + 1))
            shares[blocks] = *bytes;
    }
    return shares;
}

/// The overhead, if this unit is right: then the bytes missing from each share rounded down are the same for every
/// number of blocks.
std::optional<std::int64_t> overhead_with(std::int64_t unit, std::int64_t capacity, const Shares& shares) {
    std::optional<std::int64_t> overhead;
    for (const auto& [blocks, bytes] : shares) {
        const auto missing = capacity / blocks / unit * unit - bytes;
        if (missing < 0 || (overhead && *overhead != missing)) return std::nullopt;
        overhead = missing;
    }
    return overhead;
}

void SharedAllocation::conclude(const Shares& shares, std::optional<std::int64_t> for_arguments,
                                Outcome& outcome) const {
    const Evidence evidence{
        fmt::format("shared_allocation: the most bytes that a block can ask for, with {} numbers of resident blocks",
                    shares.size()),
        kConfidence};
    std::vector<results::Value> units;
    std::vector<results::Value> overheads;
    const auto each = for_arguments.value_or(0) / kExtraArguments;
    for (std::int64_t unit = 1; unit <= kLargestUnit; unit *= 2) {
        const auto overhead = overhead_with(unit, capacity_, shares);
        if (!overhead || *overhead < each * ResidencyProbe::own_arguments()) continue;
        units.emplace_back(unit);
        const results::Value own = *overhead - each * ResidencyProbe::own_arguments();
        if (std::ranges::find(overheads, own) == overheads.end()) overheads.push_back(own);
    }
    if (units.empty()) {
        outcome.warnings.emplace_back(
            "shared_allocation: the unit is unknown, because none explains how much shared memory several blocks can "
            "ask for");
        return;
    }
    const auto add = [&](const char* path, const std::vector<results::Value>& values) {
        outcome.estimates.push_back(values.size() == 1 ? decided(path, values.front(), evidence)
                                                       : undecided(path, values, evidence));
    };
    add("shared.allocation_unit", units);
    add("shared.block_overhead", overheads);
    if (for_arguments) outcome.estimates.push_back(decided("shared.argument_overhead", each, evidence));
}

Outcome SharedAllocation::measure() {
    Outcome outcome;
    const Shares found = shares();
    if (found.size() < 2) {
        outcome.warnings.emplace_back(
            "shared_allocation: nothing was found, because fewer than two numbers of blocks can be resident together");
        return outcome;
    }
    const auto& [blocks, bytes] = *found.begin();
    const auto less =
        most_bytes(with_arguments_, blocks, std::max<std::int64_t>(0, bytes - kMostForArguments), bytes + 1);
    results::Trace trace{.name = "shared_allocation/shares", .experiment = "shared_allocation"};
    trace.columns = {{"blocks", "count", {}}, {"bytes", "bytes", {}}};
    for (const auto& [count, share] : found) {
        trace.columns[0].values.push_back(count);
        trace.columns[1].values.push_back(static_cast<double>(share));
    }
    outcome.traces.push_back(std::move(trace));
    conclude(found, less ? std::optional(bytes - *less) : std::nullopt, outcome);
    return outcome;
}

Outcome run(Context& context) { return SharedAllocation(context).measure(); }

}  // namespace
}  // namespace shared_allocation

Experiment shared_allocation_experiment() {
    return {.id = "shared_allocation",
            .title = "unit and overhead of shared memory that blocks take",
            .source = "Volkov 2016, 5.7",
            .method = "shared-memory",
            .explanation =
                "Blocks ask for growing amounts of shared memory while the blocks that fit on an SM are counted. "
                "Memory that is missing from the total is the overhead of a block. The steps are the unit of "
                "allocation.",
            .needs = {},
            .provides = {"shared.allocation_unit", "shared.block_overhead", "shared.argument_overhead"},
            .run = shared_allocation::run};
}

}  // namespace gputomo::experiments
