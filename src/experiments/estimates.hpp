// Short ways to say what was found.
#pragma once

#include "deduce/estimate.hpp"

#include <span>
#include <string>

namespace gputomo::experiments {

/// How sure a number is that was read from the driver, not measured.
inline constexpr double kAttributeConfidence = 0.99;

/// How a value was found and how sure it is.
struct Evidence {
    std::string method;
    double confidence = 0;
    std::string note = {};
};

/// A number with its spread over repetitions.
struct Measured {
    double value = 0;
    double low = 0;
    double high = 0;
    [[nodiscard]] double spread() const { return high - low; }
};

/// Median, smallest and largest. Throws std::logic_error for no samples.
[[nodiscard]] Measured summarise(std::span<const double> samples);

[[nodiscard]] deduce::Estimate decided(std::string path, deduce::Value value, const Evidence& evidence);
[[nodiscard]] deduce::Estimate absent(std::string path, const Evidence& evidence);
[[nodiscard]] deduce::Estimate undecided(std::string path, std::vector<deduce::Value> candidates,
                                         const Evidence& evidence);

/// The nearest integer, with the interval of the samples; undecided between two neighbours where the interval holds
/// both of them equally (the median is within a tenth of the middle between two integers and the samples spread over
/// both, but not over many more).
[[nodiscard]] deduce::Estimate decided_integer(std::string path, const Measured& measured, const Evidence& evidence);
/// The number itself, with the interval of the samples.
[[nodiscard]] deduce::Estimate decided_real(std::string path, const Measured& measured, const Evidence& evidence);

}  // namespace gputomo::experiments
