#include "sim/sm/sampling/launch_cut.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace gputomo::sim {
namespace {

/// Snapshots until the first decision. The cost of an instruction is taken from those behind the first half, because
/// caches fill before. Fewer would leave too few of them for an interval.
constexpr std::uint64_t kSnapshots = 12;
/// The 97.5% quantile of Student's distribution for the parts between the snapshots of the second half.
constexpr double kStudentOfParts = 2.571;
/// Ending is not worth its error where less than this part of the instructions is left out.
constexpr double kLeastLeftOut = 0.5;
/// The share of the instructions that are left which may differ from those just simulated, as ends of blocks do. With
/// more, kernels of several phases would be estimated from one of them.
constexpr double kMostOthers = 0.1;
/// Standard deviation of the instructions of blocks over their mean, up to which a mean stands for each block. Where
/// they differ more, the longest ones decide when the launch ends.
constexpr double kMostSpread = 0.03;

double sum_of(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Half of the sum of differences between two mixes of instructions, each as shares of its sum.
double difference_of(std::span<const double> one, std::span<const double> other) {
    const double of_one = sum_of(one), of_other = sum_of(other);
    if (of_one <= 0 || of_other <= 0) return 1;
    double all = 0;
    for (std::size_t i = 0; i < one.size(); ++i) all += std::abs(one[i] / of_one - other[i] / of_other);
    return all / 2;
}

/// How many waves the launch takes as long as.
struct Waves {
    double count = 1;
    double uncertainty = 0;  ///< in waves, on both sides
};

/// The blocks of the last wave share their SMs with fewer others. Where each waits for its own latencies, they take as
/// long as those of a full wave. Where they share what they wait for, they take less.
Waves waves_of(const CutGrid& grid) {
    const std::uint64_t wave = grid.sms * grid.blocks_of_sm;
    const std::uint64_t full = grid.blocks / wave, rest = grid.blocks % wave;
    if (full == 0 || rest == 0) return {.count = std::max(1.0, static_cast<double>(full))};
    const double most_of_sm = std::ceil(static_cast<double>(rest) / static_cast<double>(grid.sms));
    const double least = most_of_sm / static_cast<double>(grid.blocks_of_sm);
    return {.count = static_cast<double>(full) + (1 + least) / 2, .uncertainty = (1 - least) / 2};
}

}  // namespace

LaunchCut::LaunchCut(const SamplingPlan& plan, const CutGrid& grid, std::uint64_t first)
    : plan_(plan),
      grid_(grid),
      interval_(std::max<std::uint64_t>(1, first / kSnapshots)),
      next_(plan.block_work ? interval_ : std::numeric_limits<std::uint64_t>::max()),
      decision_(first) {}

std::optional<LaunchEstimate> LaunchCut::look(const Costs& spent, std::vector<std::uint64_t> issued) {
    snapshots_.push_back({spent, std::move(issued)});
    const auto instructions = static_cast<std::uint64_t>(spent[kInstructions]);
    next_ = instructions + interval_;
    if (instructions < decision_ || snapshots_.size() < kSnapshots) return std::nullopt;
    if (!asked_) work_ = plan_.block_work();
    asked_ = true;
    if (work_ && work_->executed.size() == snapshots_.back().issued.size())
        if (auto estimate = estimate_now(*work_)) return estimate;
    // Once more after twice as many instructions, of which the second half counts. A launch that depends on its order
    // and one of which more than half is simulated by then are simulated whole.
    const double all = work_ ? sum_of(work_->executed) * static_cast<double>(grid_.blocks) : 0;
    const bool goes_on = all > static_cast<double>(plan_.above) && spent[kInstructions] < (1 - kLeastLeftOut) * all;
    decision_ *= 2;
    interval_ *= 2;
    for (std::size_t i = 0; 2 * i + 1 < snapshots_.size(); ++i) snapshots_[i] = std::move(snapshots_[2 * i + 1]);
    snapshots_.resize(snapshots_.size() / 2);
    next_ = goes_on ? instructions + interval_ : std::numeric_limits<std::uint64_t>::max();
    return std::nullopt;
}

std::optional<LaunchEstimate> LaunchCut::estimate_now(const BlockWork& work) const {
    if (work.spread > kMostSpread) return std::nullopt;
    const Snapshot& now = snapshots_.back();
    const std::size_t begin = snapshots_.size() / 2 - 1;
    const Snapshot& half = snapshots_[begin];
    const auto blocks = static_cast<double>(grid_.blocks);
    std::vector<double> left(work.executed.size()), lately(work.executed.size());
    for (std::size_t i = 0; i < left.size(); ++i) {
        left[i] = std::max(0.0, work.executed[i] * blocks - static_cast<double>(now.issued[i]));
        lately[i] = static_cast<double>(now.issued[i] - half.issued[i]);
    }
    const double all = sum_of(work.executed) * blocks, done = now.spent[kInstructions];
    if (all <= static_cast<double>(plan_.above) || all - done < kLeastLeftOut * all) return std::nullopt;
    const double others = difference_of(left, lately);
    if (others > kMostOthers) return std::nullopt;

    // Cycles of an instruction, part by part.
    std::vector<double> costs;
    for (std::size_t i = begin; i + 1 < snapshots_.size(); ++i)
        costs.push_back((snapshots_[i + 1].spent[kCycles] - snapshots_[i].spent[kCycles]) /
                        (snapshots_[i + 1].spent[kInstructions] - snapshots_[i].spent[kInstructions]));
    const double cost = (now.spent[kCycles] - half.spent[kCycles]) / (done - half.spent[kInstructions]);
    const auto parts = static_cast<double>(costs.size());
    double squares = 0;
    for (const double one : costs) squares += (one - cost) * (one - cost);
    const double spread = std::sqrt(squares / (parts - 1) / parts);

    // A wave begins as the first one did, and goes on at the present cost.
    const Waves waves = waves_of(grid_);
    const double wave = std::min(blocks, static_cast<double>(grid_.sms * grid_.blocks_of_sm));
    const double of_wave = sum_of(work.executed) * wave;
    LaunchEstimate made{.cost = now.spent};
    const double cycles_of_wave =
        done < of_wave ? now.spent[kCycles] + (of_wave - done) * cost : now.spent[kCycles] / done * of_wave;
    made.cost[kCycles] = cycles_of_wave * waves.count;
    for (std::size_t i = kCycles + 1; i < made.cost.size(); ++i)
        made.cost[i] += (now.spent[i] - half.spent[i]) / (done - half.spent[kInstructions]) * (all - done);
    made.cost[kInstructions] = all;
    const double estimated = 1 - done / all;
    made.error = estimated * (kStudentOfParts * spread / cost + others + work.spread) + waves.uncertainty / waves.count;
    return made;
}

}  // namespace gputomo::sim
