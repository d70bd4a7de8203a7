#include "experiments/arithmetic/unit_pairs.hpp"

#include "experiments/arithmetic/rates.hpp"
#include "measure/kernel/device_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace gputomo::experiments {
namespace {

/// Machine instructions of a loop's body. In a shorter body the loop's control counts, and two kinds are mixed
/// coarsely; a longer one takes longer to compile.
constexpr int kBody = 96;
/// Operations come in groups of four: two chains, of an even number of steps each.
constexpr int kGroup = 4;
constexpr int kChains = 2;
/// Groups of one operation in the shortest balanced body. Operations whose rates differ more stay out of balance.
constexpr int kMostGroups = 16;
/// Bodies this near to equal times are as good as equal ...
constexpr double kBalanced = 0.05;
/// ... and then the shorter one is preferred: one group costs as much as this imbalance.
constexpr double kPerGroup = 0.001;

struct Counts {
    int first = kGroup;
    int second = kGroup;
};

Counts balanced_counts(const RatedOperation& first, const RatedOperation& second) {
    Counts best;
    double least = -1;
    for (int a = 1; a <= kMostGroups; ++a)
        for (int b = 1; b <= kMostGroups; ++b) {
            if (a > 1 && b > 1 && kGroup * (a * first.size + b * second.size) > kBody) continue;
            const double off =
                std::max(kBalanced, std::abs(std::log(a * first.cycles / (b * second.cycles)))) + kPerGroup * (a + b);
            if (least < 0 || off < least) best = {kGroup * a, kGroup * b};
            least = least < 0 ? off : std::min(least, off);
        }
    const int times = std::max(1, kBody / (best.first * first.size + best.second * second.size));
    return {best.first * times, best.second * times};
}

}  // namespace

RatedOperations rated_operations(const Context& context) {
    RatedOperations operations;
    const auto add = [&](const TimedOperation& operation, double rate) {
        operations.all.push_back(
            {operation, warp_size_of(context.device) / rate, size_of(context.findings, operation)});
    };
    const auto target = target_of(context.device);
    std::set<std::string_view> seen;
    for (const auto& [name, operation] : timed_pipelines(target)) {
        seen.insert(operation.name);
        if (const auto lanes = context.findings.number(fmt::format("pipelines.{}.lanes", name))) add(operation, *lanes);
    }
    operations.of_pipelines = operations.all.size();
    for (const auto& operation : timed_operations(target, context.quick)) {
        if (operation.code.find(';') != std::string_view::npos) continue;  // a sequence has the units of its parts
        const auto rate = context.findings.number(fmt::format("operations[{}].throughput", operation.name));
        if (rate && !seen.contains(operation.name)) add(operation, *rate);
    }
    return operations;
}

std::vector<LoopPart> balanced_loop(const RatedOperation& first, const RatedOperation& second) {
    const Counts counts = balanced_counts(first, second);
    return {{first.operation, counts.first, kChains}, {second.operation, counts.second, kChains}};
}

void compile_pair_ahead(device::Device& device, const RatedOperation& first, const RatedOperation& second) {
    if (device.compiles_ahead())
        device.compile_ahead(chain_loop_kernel(target_of(device), balanced_loop(first, second)).text());
}

}  // namespace gputomo::experiments
