// Makes estimates of each kind: known, absent, undecided, and numbers with the spread of their samples.
#pragma once

#include "results/estimate.hpp"
#include "units/statistics.hpp"

#include <string>

namespace gputomo::results {

/// Confidence of a number that the driver states and no kernel measures. It is just below 1, as nothing is
/// measured. Only the confidence that reports show for such leaves depends on it.
inline constexpr double kAttributeConfidence = 0.99;

/// How a value was found and how sure it is: what an Estimate says beside the value itself.
struct Evidence {
    std::string method;     ///< the experiment and the rule, in words
    double confidence = 0;  ///< probability that the value is right, 0..1
    std::string note = {};
};

[[nodiscard]] Estimate decided(std::string path, Value value, const Evidence& evidence);
[[nodiscard]] Estimate absent(std::string path, const Evidence& evidence);
[[nodiscard]] Estimate undecided(std::string path, std::vector<Value> candidates, const Evidence& evidence);

/// The integer nearest to the median, with the interval of the samples. A median within 0.1 of the middle between two
/// integers leaves the estimate undecided between them. Samples that spread over 8 or more are a mean, not an integer,
/// and are always rounded.
[[nodiscard]] Estimate decided_integer(std::string path, const Measured& measured, const Evidence& evidence);
/// The median itself, with the interval of the samples.
[[nodiscard]] Estimate decided_real(std::string path, const Measured& measured, const Evidence& evidence);

}  // namespace gputomo::results
