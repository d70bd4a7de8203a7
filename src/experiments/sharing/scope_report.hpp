// Which SMs share a part of the memory system, and how that is said.
#pragma once

#include "experiments/experiment.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::experiments {

/// SMs that share something with SM 0, which is one of them.
struct Sharers {
    std::vector<std::uint32_t> sms, unclear;
    double own_loss = 0;    ///< part of what one block on SM 0 had that another there takes
    double loss_apart = 0;  ///< the most that an SM takes which does not share
    [[nodiscard]] bool decided() const { return !sms.empty() && unclear.empty(); }
};

/// What each SM takes from SM 0, which is one of them.
struct Sharing {
    struct Loss {
        std::uint32_t rival = 0;
        double lost = 0;  ///< part of what SM 0 had that is gone when the rival works
    };
    std::vector<Loss> losses;

    [[nodiscard]] Sharers sharers() const;
};

class Competition;

/// What a block on SM 0 loses to one on each SM in turn. `cost`: cycles that a load takes longer when all that it had is gone.
[[nodiscard]] Sharing compete_with_all(const Context& context, Competition& competition, double cost);

/// Adds the estimate for `path`, such as caches.l1.scope; `method` says what was done. What a second block on SM 0 takes is the measure of what
/// sharing costs: policies that keep what is used lose only a part.
void report_scope(const Context& context, const std::string& path, const Sharing& sharing, const std::string& method, Outcome& outcome);

}  // namespace gputomo::experiments
