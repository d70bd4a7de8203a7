// Sampled launches: which block starts next, and what the whole launch costs.
#include "sim/sm/engine/engine.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gputomo::sim {
namespace {

/// A block that has run this many times as long as the longest before it, after blocks were skipped, is taken to wait
/// for one of them. A smaller number would give up launches whose blocks differ that much.
constexpr double kLongestBlocks = 64;

/// The simulation of a launch that is sampled may end within blocks after this part of the fewest instructions of such
/// a launch. A larger part takes longer, and with a smaller one caches fill while the cost is measured. Where blocks
/// may be skipped, four times as many give its first waves the time for that.
constexpr std::uint64_t kPartBeforeCut = 4;
/// What was simulated is told in blocks, which is too coarse for fewer.
constexpr std::uint64_t kFewestCutBlocks = 8;

/// Calls `visit` with each counter that grows with the blocks, always in the same order.
template <class AnyCounters, class Visit>
void for_each_counter(AnyCounters& counters, const Visit& visit) {
    visit(counters.thread_instructions);
    visit(counters.bank_conflict_cycles);
    visit(counters.divergent_branches);
    visit(counters.memory_transactions);
    visit(counters.dram_bytes);
    for (auto& [cache, hits] : counters.cache_hits) visit(hits);
    for (auto& [cache, misses] : counters.cache_misses) visit(misses);
}

std::uint64_t whole(double count) { return static_cast<std::uint64_t>(std::llround(std::max(count, 0.0))); }

}  // namespace

void Engine::make_sampler() {
    if (!setup_.sampling) return;
    const BlockLaunchSpec& spec = units_.block_launch_spec;
    const SamplingPlan& plan = *setup_.sampling;
    const bool skips = !shape_.sees_other_blocks;
    if (skips)
        sampler_.emplace(
            plan,
            SampledGrid{.blocks = spec.blocks, .row = setup_.launch.grid.x, .wave = spec.blocks_per_sm * facts_.sms});
    // Leaving blocks out has a better estimate of how waves follow each other, and gets time for its first ones.
    if (spec.blocks < kFewestCutBlocks) return;
    const std::uint64_t first = skips && sampler_->may_skip() ? plan.above : plan.above / kPartBeforeCut;
    cut_.emplace(plan, CutGrid{.blocks = spec.blocks, .sms = facts_.sms, .blocks_of_sm = spec.blocks_per_sm}, first);
}

void Engine::look_for_cut(double now) {
    if (!cut_ || !cut_->decides_at(counters_.warp_instructions) || (sampler_ && sampler_->skipped())) return;
    estimate_ = cut_->look(spent_until(now), issued_by_place());
}

void Engine::drain_counters() {
    setup_.memory_system.drain_counters(counters_);
    counters_.bank_conflict_cycles += std::exchange(units_.load_store.state.bank_conflict_cycles, 0);
}

Costs Engine::spent_until(double now) {
    drain_counters();
    Costs spent(kFirstCounter);
    spent[kCycles] = now;
    spent[kInstructions] = static_cast<double>(counters_.warp_instructions);
    spent[kFilledLines] = static_cast<double>(setup_.memory_system.filled_lines());
    for_each_counter(counters_, [&](std::uint64_t count) { spent.push_back(static_cast<double>(count)); });
    return spent;
}

void Engine::choose_next_block(double now) {
    const std::uint64_t block = units_.block_launch.next;
    if (!sampler_ || !sampler_->decides_at(block)) return;
    units_.block_launch.next = sampler_->next_block(block, spent_until(now));
    furthest_block_ = std::max(furthest_block_, block);
    if (units_.block_launch.next <= furthest_block_) return;
    const auto skipped = static_cast<double>(units_.block_launch.next - furthest_block_);
    furthest_block_ = units_.block_launch.next;
    setup_.memory_system.fill_with_strangers(whole(skipped * sampler_->cost_before_skip()[kFilledLines]));
}

void Engine::note_end(const Block& block, double now) {
    if (block.sm == 0 && timeline_.size() < costs::kMostSpans)
        timeline_.push_back({.block = block.index, .start = block.started, .end = now});
    if (!sampler_) return;
    longest_block_ = std::max(longest_block_, now - block.started);
    sampler_->note_end(block.index, block.issued);
}

void Engine::check_progress() const {
    if (!sampler_ || !sampler_->skipped()) return;
    for (const ResidentWarp* const warp : warps_)
        if (warp->in_use && latest_ - blocks_[warp->block].started > kLongestBlocks * longest_block_)
            throw DeviceError(
                fmt::format("launch of {}: a block runs {} times as long as any before it (simulated "
                            "cycle {:.0f}); {}",
                            shape_.name, kLongestBlocks, latest_, where(*warp)));
}

LaunchTime Engine::estimate_launch() {
    drain_counters();
    const std::uint64_t blocks = units_.block_launch_spec.blocks;
    const bool skipped = sampler_ && sampler_->skipped();
    if (!skipped && !estimate_) return {latest_, {blocks, blocks, 0}};
    const double issued = static_cast<double>(counters_.warp_instructions);
    const LaunchEstimate estimate = skipped ? sampler_->finish(spent_until(latest_)) : *estimate_;
    const auto simulated =
        skipped
            ? sampler_->simulated()
            : std::min(blocks - 1, std::max<std::uint64_t>(
                                       1, whole(issued / estimate.cost[kInstructions] * static_cast<double>(blocks))));
    counters_.warp_instructions = whole(estimate.cost[kInstructions]);
    std::size_t place = kFirstCounter;
    for_each_counter(counters_, [&](std::uint64_t& count) { count = whole(estimate.cost[place++]); });
    return {estimate.cost[kCycles], {simulated, blocks, estimate.error}};
}

}  // namespace gputomo::sim
