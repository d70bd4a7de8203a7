// Changes values of a machine description as --set asks for.
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <vector>

namespace gputomo::cli {

inline constexpr const char* kSetHelp =
    "PATH=VALUE: change a value of the description before it is used, such as caches.l2.latency=250; given once for "
    "each";

/// Sets each "PATH=VALUE". Brackets of a path may be dots. VALUE is JSON of the type that the leaf has; a word needs no
/// quotes. Returns what was changed, for the user. Throws InputError that names the option where a path is not in the
/// description or a value does not fit it.
std::vector<std::string> set_leaves(machine::Machine& machine, const std::vector<std::string>& assignments);

}  // namespace gputomo::cli
