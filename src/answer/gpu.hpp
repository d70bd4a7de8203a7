// The GPU that an answer is about.
#pragma once

#include "machine/machine.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gputomo::answer {

struct Gpu {
    const machine::Machine& machine;  ///< with all that simulation needs, as sim::completed() gives it
    std::string origin;               ///< its name or file in messages: "sim:h200"
};

/// What answers about this GPU rest on that decides them: assumed leaves that make up a large part of the `cycles` that
/// a profiler counts.
[[nodiscard]] std::vector<std::string> warnings_of(const Gpu& gpu, double cycles);

/// A sentence that says so where most values of the description are not of this GPU; nullopt elsewhere.
[[nodiscard]] std::optional<std::string> mostly_assumed(const machine::Machine& machine);

/// What answers about this GPU take for granted, because its description does not say it.
[[nodiscard]] std::vector<std::string> assumptions_of(const Gpu& gpu);

}  // namespace gputomo::answer
