// The GPU that an answer is about.
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <vector>

namespace gputomo::answer {

struct Gpu {
    const machine::Machine& machine;  ///< with all that simulation needs, as sim::completed() gives it
    std::string origin;               ///< its name or file in messages: "sim:h200"
};

/// What answers about this GPU take for granted, because its description does not say it.
[[nodiscard]] std::vector<std::string> assumptions_of(const Gpu& gpu);

}  // namespace gputomo::answer
