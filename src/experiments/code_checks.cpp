#include "experiments/code_checks.hpp"

namespace gputomo::experiments {

void add_code_checks(const measure::CompiledKernel& kernel, results::Outcome& outcome) {
    outcome.code_checks.insert(outcome.code_checks.end(), kernel.code_checks().begin(), kernel.code_checks().end());
}

void add_code_checks(std::span<const measure::CompiledKernel* const> kernels, results::Outcome& outcome) {
    for (const auto* kernel : kernels) add_code_checks(*kernel, outcome);
}

void add_mismatch(const measure::CodeMismatch& mismatch, results::Outcome& outcome) {
    const auto& check = mismatch.check();
    outcome.code_checks.push_back(check);
    outcome.warnings.push_back(check.kernel + " left out: expected " + check.expected + "; found " + check.found);
}

results::Outcome or_left_out(const std::function<results::Outcome()>& measure) {
    try {
        return measure();
    } catch (const measure::CodeMismatch& mismatch) {
        results::Outcome outcome;
        add_mismatch(mismatch, outcome);
        return outcome;
    }
}

}  // namespace gputomo::experiments
