// The GPU that an answer is about.
#pragma once

#include "machine/machine.hpp"

#include <string>

namespace gputomo::answer {

struct Gpu {
    const machine::Machine& machine;  ///< with all that simulation needs, as sim::completed() gives it
    std::string origin;               ///< its name or file in messages: "sim:h200"
};

}  // namespace gputomo::answer
