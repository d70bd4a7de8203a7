#include "experiments/arithmetic/loop_rates.hpp"

#include "experiments/arithmetic/rates.hpp"
#include "measure/kernel/device_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

namespace gputomo::experiments {
namespace {

/// Loops for the rate, the best of which counts. They fit an instruction cache of 4 KiB. Two chains fill the issue
/// slots of current SMs; with more, the warps drift apart and the rate falls by up to 2%. If registers suffice for a
/// few warps only, however, only more chains cover the latency.
constexpr LoopShape kLoops[] = {{384, 1}, {384, 2}, {384, 4}};
/// Loops of operations that are several instructions: here `operations` counts machine instructions.
constexpr LoopShape kShortLoops[] = {{480, 1}, {480, 2}};
/// Fewest operations of an iteration, however many instructions each one takes.
constexpr int kFewestOperations = 16;
/// Time of a loop's control at most, in machine instructions: it counts, compares and branches with four, some of which
/// issue at half the rate. A loop that seems to take more is checked with a third length.
constexpr double kMostControl = 8;
/// Times of loops of three lengths lie on a line within this share.
constexpr double kStraight = 0.005;

std::span<const LoopShape> shapes_of(const TimedOperation& operation) {
    return operation.opcodes.empty() ? std::span<const LoopShape>(kShortLoops) : std::span<const LoopShape>(kLoops);
}

/// Operations of a thread in an iteration, an even multiple of the chains. `size`: machine instructions of an
/// operation.
int count_of(const LoopShape& shape, int size) { return std::max(kFewestOperations, shape.operations / size / 8 * 8); }

/// Returns `shape` with `operations` operations and its own number of chains.
LoopShape with_operations(const LoopShape& shape, int operations, int size) {
    return {operations * size, shape.chains};
}

std::vector<LoopPart> loop_of(const TimedOperation& operation, const LoopShape& shape, int size) {
    return {{operation, count_of(shape, size), shape.chains}};
}

}  // namespace

LoopRates::LoopRates(Context& context, const TimedOperation& operation, Outcome& outcome)
    : context_(context),
      operation_(operation),
      outcome_(outcome),
      warp_size_(warp_size_of(context.device)),
      size_(size_of(context.findings, operation)) {}

double LoopRates::best() {
    for (const auto& shape : shapes_of(operation_)) {
        const auto loop = make(shape);
        const int most = most_warps(loop->compiled(), warp_size_);
        for (int warps : {most / 2, most})
            if (warps > 0)
                measured_.push_back({{count(shape), shape.chains}, warps, loop->throughput(warps, warp_size_)});
    }
    const LoopRate best = *std::ranges::max_element(measured_, {}, &LoopRate::rate);
    return without_control(best);
}

results::Trace LoopRates::trace() const {
    results::Trace trace{.name = fmt::format("arithmetic_throughput/{}/loops", operation_.name),
                         .experiment = "arithmetic_throughput"};
    trace.columns = {
        {"operations", "count", {}}, {"chains", "count", {}}, {"warps", "count", {}}, {"rate", "operations/cycle", {}}};
    for (const auto& loop : measured_) trace.add_row(loop.shape.operations, loop.shape.chains, loop.warps, loop.rate);
    return trace;
}

int LoopRates::count(const LoopShape& shape) const { return count_of(shape, size_); }
std::unique_ptr<ChainLoop> LoopRates::make(const LoopShape& shape) {
    auto loop = std::make_unique<ChainLoop>(context_.device, loop_of(operation_, shape, size_));
    add_code_checks(loop->compiled(), outcome_);
    return loop;
}

/// Measures the loop of `whole` with `operations` operations instead, at the same number of warps.
LoopRate LoopRates::shorter(const LoopRate& whole, int operations) {
    const LoopShape shape = with_operations(whole.shape, operations, size_);
    measured_.push_back({{count(shape), shape.chains}, whole.warps, make(shape)->throughput(whole.warps, warp_size_)});
    return measured_.back();
}

/// An iteration takes the time of its operations and that of its control; a loop of half as many operations
/// separates them. The rate stays as measured if this makes the control negative. If it makes the control long,
/// something other than the number of operations may differ. Few warps, for example, may cover the latency of the
/// operation but not the whole latency of a branch. A loop of a quarter of the operations must then confirm the rate.
double LoopRates::without_control(const LoopRate& whole) {
    const auto cycles = [](const LoopRate& loop) { return loop.shape.operations / loop.rate; };
    const LoopRate half = shorter(whole, whole.shape.operations / 2);
    const double added = cycles(whole) - cycles(half);
    const double rate = (whole.shape.operations - half.shape.operations) / added;
    const double control = cycles(whole) * rate - whole.shape.operations;
    if (control < 0) return whole.rate;
    if (control * size_ <= kMostControl) return rate;
    const LoopRate quarter = shorter(whole, whole.shape.operations / 4);
    const double expected =
        added * (half.shape.operations - quarter.shape.operations) / (whole.shape.operations - half.shape.operations);
    return std::abs(cycles(half) - cycles(quarter) - expected) <= kStraight * added ? rate : whole.rate;
}

void compile_loops_ahead(const Context& context, const TimedOperation& operation) {
    auto& device = context.device;
    const int size = size_of(context.findings, operation);
    for (const auto& shape : shapes_of(operation))
        for (const auto& tried : {shape, with_operations(shape, count_of(shape, size) / 2, size)})
            device.compile_ahead(chain_loop_kernel(target_of(device), loop_of(operation, tried, size)).text());
}

}  // namespace gputomo::experiments
