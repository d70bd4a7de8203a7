// The GPU as a picture: what the description knows, each thing with its size and latency in place.
#pragma once

#include "machine/machine.hpp"
#include "report/parts/text.hpp"

#include <string>

namespace gputomo::report {

/// An inline SVG picture `width` units wide: one SM with its schedulers, units, registers, shared memory and caches,
/// what SMs share, address translation, DRAM. What is undecided has a dashed frame and its interval; what is absent or
/// unknown is left out. Empty where nothing is known of the machine.
[[nodiscard]] std::string picture(const machine::Machine& machine, const Facts& facts, double width);

}  // namespace gputomo::report
