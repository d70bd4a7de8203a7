#include "results/estimates.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::results {
namespace {

/// A median within this distance of the middle between two integers does not choose between them. A larger zone
/// leaves more leaves undecided; a smaller one lets jitter round to the wrong neighbour.
constexpr double kMiddleZone = 0.1;
/// Samples that spread over more integers than this have no integer behind them, only a mean, which is rounded.
/// Where they spread less, a median in the middle zone stays undecided.
constexpr double kWideSpread = 8;

}  // namespace

Estimate decided(std::string path, Value value, const Evidence& evidence) {
    Estimate estimate;
    estimate.path = std::move(path);
    estimate.value = std::move(value);
    estimate.method = evidence.method;
    estimate.confidence = evidence.confidence;
    estimate.note = evidence.note;
    return estimate;
}

Estimate absent(std::string path, const Evidence& evidence) {
    auto estimate = decided(std::move(path), std::int64_t{0}, evidence);
    estimate.knowledge = Knowledge::absent;
    return estimate;
}

Estimate undecided(std::string path, std::vector<Value> candidates, const Evidence& evidence) {
    auto estimate = decided(std::move(path), std::int64_t{0}, evidence);
    estimate.knowledge = Knowledge::undecided;
    if (!candidates.empty()) estimate.value = candidates.front();
    estimate.candidates = std::move(candidates);
    return estimate;
}

Estimate decided_integer(std::string path, const Measured& measured, const Evidence& evidence) {
    const double below = std::floor(measured.value);
    const bool in_the_middle = std::abs(measured.value - below - 0.5) < kMiddleZone && measured.spread() < kWideSpread;
    auto estimate = in_the_middle
                        ? undecided(std::move(path),
                                    {static_cast<std::int64_t>(below), static_cast<std::int64_t>(below) + 1}, evidence)
                        : decided(std::move(path), static_cast<std::int64_t>(std::llround(measured.value)), evidence);
    estimate.interval = {measured.low, measured.high};
    return estimate;
}

Estimate decided_real(std::string path, const Measured& measured, const Evidence& evidence) {
    auto estimate = decided(std::move(path), measured.value, evidence);
    estimate.interval = {measured.low, measured.high};
    return estimate;
}

}  // namespace gputomo::results
