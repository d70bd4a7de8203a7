// What a report shows of a scan beside its machine description.
#pragma once

#include "report/html.hpp"
#include "scan/runner.hpp"

#include <string_view>

namespace gputomo::cli {

[[nodiscard]] report::Page page_of(const scan::Scan& scan);

/// How an experiment measures, in plain sentences; empty for an id that there is not.
[[nodiscard]] std::string_view explanation_of(std::string_view experiment);

}  // namespace gputomo::cli
