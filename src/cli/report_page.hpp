// Collects what a report shows beside the machine description.
#pragma once

#include "report/html.hpp"
#include "scan/runner.hpp"

#include <optional>

namespace gputomo::cli {

/// The methods, warnings, traces and code checks of a scan, with the explanations of the experiments that ran.
[[nodiscard]] report::Page page_of(const scan::Scan& scan);

/// The newest built-in machine of the generation before: its compute capability is smaller, and no built-in machine of
/// this capability has its architecture. Returns nullopt if there is none or if the machine's compute capability is
/// unknown.
[[nodiscard]] std::optional<report::Earlier> generation_before(const machine::Machine& machine);

}  // namespace gputomo::cli
