// The record of a measurement that reproduction makes besides those of a scan.
#pragma once

#include "scan/runner.hpp"

#include <functional>
#include <string_view>

namespace gputomo::reproduce {

/// Calls `measure`, which adds to the record's outcome, and notes how long it took. A failure or an interruption stands
/// in the record, as after scan::run().
[[nodiscard]] scan::Record timed_record(std::string_view id, const std::function<void(results::Outcome&)>& measure);

}  // namespace gputomo::reproduce
