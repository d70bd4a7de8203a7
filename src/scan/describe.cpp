#include "machine/paths.hpp"
#include "scan/runner.hpp"

#include <algorithm>

namespace gputomo::scan {
namespace {

machine::Knowledge knowledge(deduce::Verdict verdict) {
    switch (verdict) {
        case deduce::Verdict::decided: return machine::Knowledge::known;
        case deduce::Verdict::absent: return machine::Knowledge::absent;
        case deduce::Verdict::undecided: return machine::Knowledge::undecided;
    }
    return machine::Knowledge::unknown;
}

machine::Leaf leaf_of(const deduce::Estimate& estimate) {
    machine::Leaf leaf{knowledge(estimate.verdict), estimate.value, estimate.candidates, {}};
    leaf.provenance.method = estimate.method.empty() ? "measured" : estimate.method;
    leaf.provenance.confidence = std::clamp(estimate.confidence, 0.0, 1.0);
    leaf.provenance.interval = estimate.interval;
    leaf.provenance.note = estimate.note;
    return leaf;
}

}  // namespace

machine::Machine describe(const Scan& scan) {
    machine::Machine machine;
    for (const auto& [path, estimate] : scan.findings.all()) machine::set_leaf(machine, path, leaf_of(estimate));
    return machine;
}

}  // namespace gputomo::scan
