// Which SMs share a part of the memory system, and how that is said.
#pragma once

#include "experiments/experiment.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::experiments {

/// SMs that take room from SM 0, that don't, and those of which it is not clear.
struct Sharing {
    std::vector<std::uint32_t> sharing, apart, unclear;
    /// `lost`: part of what SM 0 had that is gone when `rival` works.
    void add(std::uint32_t rival, double lost);
};

class Competition;

/// What a block on SM 0 loses to one on each SM in turn. `cost`: cycles that a load takes longer when all that it had is gone.
[[nodiscard]] Sharing compete_with_all(const Context& context, Competition& competition, double cost);

/// Adds the estimate for `path`, such as caches.l1.scope; `method` says what was done.
void report_scope(const Context& context, const std::string& path, const Sharing& sharing, const std::string& method, Outcome& outcome);

}  // namespace gputomo::experiments
