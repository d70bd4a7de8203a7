// The part of the report below its first screen: findings by subsystem, each with its method and evidence.
#pragma once

#include "report/html.hpp"

#include <string>

namespace gputomo::report {

/// Links to the sections of the page; with `changes`, also to the differences from the earlier GPU.
[[nodiscard]] std::string contents(const Facts& facts, const Page& page, bool changes);

/// Returns a section for each subsystem with findings, then the experiments without findings, then the machine-code
/// checks. Each is closed at first and sums up its values in a line.
[[nodiscard]] std::string sections(const machine::Machine& machine, const Facts& facts, const Page& page);

/// Counts the checks by experiment and shows the failed ones with their listing. Empty where nothing was checked.
[[nodiscard]] std::string code_checks(const Page& page);

}  // namespace gputomo::report
