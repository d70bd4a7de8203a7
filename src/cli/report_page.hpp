// Collects what a report shows beside the machine description.
#pragma once

#include "report/html.hpp"
#include "scan/runner.hpp"

#include <optional>

namespace gputomo::cli {

/// The methods, warnings, traces and code checks of a scan, with the explanations of the experiments that ran. It is
/// made here because the room `report` knows neither scans nor experiments.
[[nodiscard]] report::Page page_of(const scan::Scan& scan);

/// The built-in machine of the generation before, as report::generation_before() chooses it. Nothing if there is none.
[[nodiscard]] std::optional<report::Earlier> generation_before(const machine::Machine& machine);

}  // namespace gputomo::cli
