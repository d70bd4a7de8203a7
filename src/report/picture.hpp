// Draws the GPU as a picture: each unit that the description knows stands in its place, with its size and latency.
#pragma once

#include "machine/machine.hpp"
#include "report/parts/text.hpp"
#include "results/trace.hpp"

#include <string>
#include <vector>

namespace gputomo::report {

/// Returns an inline SVG picture `width` units wide. It shows one SM with its schedulers, pipelines, registers, shared
/// memory and caches, then what SMs share, address translation and DRAM. A storage is drawn once, whichever paths lead
/// to it. Undecided things have a dashed frame and their interval; absent and unknown ones are left out. `traces` are
/// the evidence, if there is some. Empty where nothing is known of the machine.
[[nodiscard]] std::string picture(const machine::Machine& machine, const Facts& facts,
                                  const std::vector<results::Trace>& traces, double width);

}  // namespace gputomo::report
