#include "machine/paths.hpp"
#include "scan/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gputomo::scan {
namespace {

/// The one conversion of an estimate into a leaf of a description.
machine::Leaf leaf_of(const results::Estimate& estimate) {
    machine::Leaf leaf{estimate.knowledge, estimate.value, estimate.candidates, {}};
    leaf.provenance.method = estimate.method.empty() ? "measured" : estimate.method;
    leaf.provenance.confidence = std::clamp(estimate.confidence, 0.0, 1.0);
    leaf.provenance.interval = estimate.interval;
    leaf.provenance.note = estimate.note;
    return leaf;
}

bool is_finite(const results::Value& value) {
    if (const auto* real = std::get_if<double>(&value)) return std::isfinite(*real);
    const auto* reals = std::get_if<std::vector<double>>(&value);
    return reals == nullptr || std::all_of(reals->begin(), reals->end(), [](double x) { return std::isfinite(x); });
}

/// Whether all numbers are finite. JSON has no infinity and no NaN, so a description with such a value could not be
/// read back.
bool is_finite(const results::Estimate& e) {
    return is_finite(e.value) && std::isfinite(e.confidence) &&
           (!e.interval || (std::isfinite((*e.interval)[0]) && std::isfinite((*e.interval)[1]))) &&
           std::all_of(e.candidates.begin(), e.candidates.end(),
                       [](const results::Value& candidate) { return is_finite(candidate); });
}

}  // namespace

void add_estimate(machine::Machine& machine, const results::Estimate& estimate) {
    if (!is_finite(estimate))
        throw std::logic_error(
            fmt::format("the estimate of {} holds an infinity or NaN; expected finite numbers", estimate.path));
    machine::set_leaf(machine, estimate.path, leaf_of(estimate));
}

machine::Machine describe(const Scan& scan) {
    machine::Machine machine;
    machine.origin = scan.origin;
    for (const auto& [path, estimate] : scan.findings.all()) add_estimate(machine, estimate);
    return machine;
}

}  // namespace gputomo::scan
