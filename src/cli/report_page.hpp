// What a report shows of a scan beside its machine description.
#pragma once

#include "report/html.hpp"
#include "scan/runner.hpp"

#include <optional>
#include <string_view>

namespace gputomo::cli {

[[nodiscard]] report::Page page_of(const scan::Scan& scan);

/// Of the machines that are built in, the last one of the generation before: of a smaller compute capability and of
/// another architecture than those that share this machine's. Nothing where there is none, or where the machine's
/// compute capability is not known.
[[nodiscard]] std::optional<report::Earlier> generation_before(const machine::Machine& machine);

/// How an experiment measures, in plain sentences; empty for an id that there is not.
[[nodiscard]] std::string_view explanation_of(std::string_view experiment);

}  // namespace gputomo::cli
