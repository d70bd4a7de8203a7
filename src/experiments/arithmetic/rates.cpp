#include "experiments/arithmetic/rates.hpp"

#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace gputomo::experiments {
namespace {

/// A measured rate falls short of the true one by at most the share `kMostLost`, through loop control and ramps. It
/// exceeds the true one by at most `kMostGained`, through a clock read.
constexpr double kMostLost = 0.015;
constexpr double kMostGained = 0.002;

}  // namespace

int warp_size_of(const device::Device& device) {
    return static_cast<int>(device.attribute(device::Attribute::warp_size).value_or(kWarpSize));
}

int size_of(const Findings& findings, const TimedOperation& operation) {
    const auto* counted = findings.find(fmt::format("operations[{}].instructions", operation.name));
    if (counted != nullptr) {
        const auto& value = counted->knowledge == results::Knowledge::known || counted->candidates.empty()
                                ? counted->value
                                : counted->candidates.front();
        if (const auto* whole = std::get_if<std::int64_t>(&value); whole != nullptr)
            return std::max(1, static_cast<int>(*whole));
    }
    const auto latency = findings.number(fmt::format("operations[{}].latency", operation.name));
    const auto single = findings.number("pipelines.sp.latency");
    if (!latency || !single || *single <= 0) return operation.size;
    return std::max(1, std::min(operation.size, static_cast<int>(std::lround(*latency / *single))));
}

results::Estimate rate_estimate(std::string path, double rate, const Evidence& evidence) {
    return decided_real(std::move(path), {rate, rate * (1 - kMostGained), rate * (1 + kMostLost)}, evidence);
}

double whole_lanes(double rate) {
    double best = rate;
    int best_halvings = -1;
    for (auto lanes = static_cast<std::int64_t>(std::ceil(rate * (1 - kMostGained)));
         static_cast<double>(lanes) <= rate / (1 - kMostLost); ++lanes) {
        const int halvings = lanes > 0 ? std::countr_zero(static_cast<std::uint64_t>(lanes)) : -1;
        if (halvings > best_halvings) best = static_cast<double>(lanes);
        best_halvings = std::max(best_halvings, halvings);
    }
    return best;
}

}  // namespace gputomo::experiments
