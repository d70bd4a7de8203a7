// The part of the report behind its first screen: findings by subsystem, each with its method and evidence.
#pragma once

#include "report/html.hpp"

#include <string>

namespace gputomo::report {

/// Links to the sections that there are; `changes`: one of what changed since the earlier GPU.
[[nodiscard]] std::string contents(const Facts& facts, const Page& page, bool changes);

/// A section for each subsystem of which something is known, then experiments that found nothing there, then the
/// machine-code checks.
[[nodiscard]] std::string sections(const Facts& facts, const Page& page);

/// The passed checks counted by experiment, the failed ones with their listing. Empty where nothing was checked.
[[nodiscard]] std::string code_checks(const Page& page);

}  // namespace gputomo::report
