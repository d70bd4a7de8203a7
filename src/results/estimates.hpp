// Short ways to say what was found.
#pragma once

#include "results/estimate.hpp"
#include "units/statistics.hpp"

#include <string>

namespace gputomo::results {

/// How sure a number is that was read from the driver, not measured.
inline constexpr double kAttributeConfidence = 0.99;

/// How a value was found and how sure it is.
struct Evidence {
    std::string method;
    double confidence = 0;
    std::string note = {};
};

[[nodiscard]] Estimate decided(std::string path, Value value, const Evidence& evidence);
[[nodiscard]] Estimate absent(std::string path, const Evidence& evidence);
[[nodiscard]] Estimate undecided(std::string path, std::vector<Value> candidates, const Evidence& evidence);

/// The nearest integer, with the interval of the samples; undecided between two neighbours where the interval holds
/// both of them equally (the median is within a tenth of the middle between two integers and the samples spread over
/// both, but not over many more).
[[nodiscard]] Estimate decided_integer(std::string path, const Measured& measured, const Evidence& evidence);
/// The number itself, with the interval of the samples.
[[nodiscard]] Estimate decided_real(std::string path, const Measured& measured, const Evidence& evidence);

}  // namespace gputomo::results
