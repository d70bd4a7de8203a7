#include "sim/sm/sampling/block_sampling.hpp"

#include <algorithm>
#include <cstddef>

namespace gputomo::sim {
namespace {

/// More windows are simulated until the error is at most this, or kLeastSkipped ends them.
constexpr double kTargetError = 0.02;
/// Windows between head and tail. With head and tail they give the interval three degrees of freedom; with one window
/// less it would be a third wider.
constexpr std::size_t kFewestWindows = 3;
/// A launch of this many waves has windows that measure one wave, a launch of twice as many measures two. Shorter
/// windows would be spent on warming up, longer ones would sample fewer places.
constexpr std::uint64_t kWavesPerMeasuredWave = 100;
/// The head is longer than a row of blocks where the grid has this many rows. Data that all rows share are then in the
/// caches before blocks are skipped. Longer heads would take too large a part of the launch.
constexpr std::uint64_t kFewestRows = 16;
/// Sampling is not worth its error where less than this part of the blocks is skipped.
constexpr double kLeastSkipped = 0.5;

constexpr std::uint64_t kNoBlock = ~std::uint64_t{0};

std::uint64_t rounded_down(std::uint64_t value, std::uint64_t step) { return value / step * step; }

Costs difference(const Costs& later, const Costs& earlier) {
    Costs result = later;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] -= earlier[i];
    return result;
}

}  // namespace

BlockSampler::BlockSampler(const SamplingPlan& plan, const SampledGrid& grid)
    : plan_(plan), grid_(grid), border_(grid.wave) {
    const std::uint64_t waves = grid.blocks / grid.wave;
    const std::uint64_t measured_waves = std::max<std::uint64_t>(1, waves / kWavesPerMeasuredWave);
    measured_ = measured_waves * grid.wave;
    warm_up_ = (measured_waves + 1) / 2 * grid.wave;
    const std::uint64_t tail = warm_up_ + measured_ + grid.wave;
    tail_ = rounded_down(grid.blocks - std::min(tail, grid.blocks), grid.wave);
    const double least = static_cast<double>(2 * tail + kFewestWindows * (warm_up_ + measured_));
    if (least > (1 - kLeastSkipped) * static_cast<double>(grid.blocks)) border_ = kNoBlock;
}

std::uint64_t BlockSampler::next_block(std::uint64_t block, const Costs& spent) {
    switch (phase_) {
        case Phase::head: return end_head(block, spent);
        case Phase::warm_up:
            windows_.back().before = spent;
            phase_ = Phase::measurement;
            border_ = block + measured_;
            return block;
        case Phase::measurement: break;
    }
    end_window(block, spent);
    if (windows_.back().started != tail_) return choose_window();
    border_ = kNoBlock;  // the tail goes on to the last block
    return block;
}

void BlockSampler::note_end(std::uint64_t block, std::uint64_t instructions) {
    EndedBlocks& wave = by_wave_[block / grid_.wave];
    ++wave.blocks;
    wave.instructions += instructions;
}

/// Whether the head is long enough, and the launch as well.
bool BlockSampler::is_settled(std::uint64_t block, const Costs& spent) const {
    if (block < warm_up_ + measured_ + grid_.wave) return false;
    if (block < grid_.row && grid_.row <= grid_.blocks / kFewestRows) return false;
    const double projected = spent[kInstructions] / static_cast<double>(block) * static_cast<double>(grid_.blocks);
    return projected > static_cast<double>(plan_.above);
}

std::uint64_t BlockSampler::end_head(std::uint64_t block, const Costs& spent) {
    spent_by_wave_.push_back(spent);
    if (!is_settled(block, spent)) {
        const bool too_late = static_cast<double>(block) > (1 - kLeastSkipped) * static_cast<double>(grid_.blocks);
        border_ = too_late ? kNoBlock : block + grid_.wave;
        return block;
    }
    const Costs& before = spent_by_wave_[spent_by_wave_.size() - 1 - measured_ / grid_.wave];
    windows_.push_back({.last = block,
                        .cost = spent,
                        .sample = block - measured_,
                        .sample_end = block,
                        .sample_cost = difference(spent, before)});
    return choose_window();
}

void BlockSampler::end_window(std::uint64_t block, const Costs& spent) {
    Window& window = windows_.back();
    window.last = window.sample_end = block;
    window.sample = window.measured;
    window.cost = window.sample_cost = difference(spent, window.before);
}

std::uint64_t BlockSampler::choose_window() {
    const std::uint64_t length = warm_up_ + measured_;
    const auto most = static_cast<std::uint64_t>((1 - kLeastSkipped) * static_cast<double>(grid_.blocks));
    const bool can_grow = simulated() + length + grid_.blocks - tail_ <= most;
    std::uint64_t start = tail_;
    if (windows_.size() <= kFewestWindows || (can_grow && estimate_now().error > kTargetError)) {
        std::uint64_t first = 0, last = 0;  // of the longest gap
        const auto windows = in_order();
        for (std::size_t i = 0; i < windows.size(); ++i) {
            const std::uint64_t end = i + 1 < windows.size() ? windows[i + 1]->started : tail_;
            if (end - windows[i]->last <= last - first) continue;
            first = windows[i]->last;
            last = end;
        }
        if (last - first >= length) start = first + rounded_down((last - first - length) / 2, grid_.wave);
    }
    windows_.push_back({.started = start, .measured = start + warm_up_});
    phase_ = Phase::warm_up;
    border_ = start + warm_up_;
    return start;
}

LaunchEstimate BlockSampler::finish(const Costs& spent) {
    Window& tail = windows_.back();
    tail.last = grid_.blocks;
    tail.cost = difference(spent, tail.before);
    return estimate_now();
}

std::uint64_t BlockSampler::simulated() const {
    std::uint64_t blocks = 0;
    for (const Window& window : windows_) blocks += window.last - window.started;
    return blocks;
}

/// Blocks start unevenly, so that a wave of starts may see more or less than a wave of work. The instructions issued
/// meanwhile, over those of a block that has ended, say how much it was.
Costs BlockSampler::per_block(const Window& window) const {
    EndedBlocks ended;
    const std::uint64_t first = window.sample - warm_up_;
    for (std::uint64_t wave = first / grid_.wave; wave < window.sample_end / grid_.wave; ++wave)
        if (const auto found = by_wave_.find(wave); found != by_wave_.end()) {
            ended.blocks += found->second.blocks;
            ended.instructions += found->second.instructions;
        }
    const double blocks = ended.blocks == 0 ? static_cast<double>(window.sample_end - window.sample)
                                            : window.sample_cost[kInstructions] * static_cast<double>(ended.blocks) /
                                                  static_cast<double>(ended.instructions);
    Costs costs = window.sample_cost;
    for (double& cost : costs) cost /= blocks;
    return costs;
}

std::vector<const BlockSampler::Window*> BlockSampler::in_order() const {
    std::vector<const Window*> windows;
    for (const Window& window : windows_)
        if (window.last != 0) windows.push_back(&window);
    std::ranges::sort(windows, {}, &Window::measured);
    return windows;
}

LaunchEstimate BlockSampler::estimate_now() const {
    std::vector<SampledWindow> sampled;
    for (const Window* const window : in_order())
        sampled.push_back({.first = window->measured,
                           .last = window->last,
                           .cost = window->cost,
                           .middle = static_cast<double>(window->sample + window->sample_end) / 2,
                           .per_block = per_block(*window)});
    return estimate(sampled, grid_.blocks);
}

}  // namespace gputomo::sim
