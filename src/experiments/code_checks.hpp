// How the checks of instruments' machine code reach an experiment's outcome.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"
#include "results/outcome.hpp"

#include <functional>
#include <span>

namespace gputomo::experiments {

/// Adds the kernel's code checks to the outcome.
void add_code_checks(const measure::CompiledKernel& kernel, results::Outcome& outcome);
/// Adds the code checks of several kernels to the outcome.
void add_code_checks(std::span<const measure::CompiledKernel* const> kernels, results::Outcome& outcome);
/// Adds the failed check and a warning, for an experiment that goes on without that kernel.
void add_mismatch(const measure::CodeMismatch& mismatch, results::Outcome& outcome);
/// The outcome of `measure`, or only the check of its kernel if that failed.
[[nodiscard]] results::Outcome or_left_out(const std::function<results::Outcome()>& measure);

}  // namespace gputomo::experiments
