// Which SMs share a part of the memory system, and how that is said.
#pragma once

#include "experiments/experiment.hpp"
#include "measure/chase/interference_chase.hpp"

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
    bool rivals_lose = false;  ///< `lost` is what each SM itself lacks, since SM 0 keeps what it had

    [[nodiscard]] Sharers sharers() const;
    /// Those that take as much as `one` does.
    [[nodiscard]] Sharers sharers_like(std::uint32_t one) const;
    /// Whether any takes enough for a measure.
    [[nodiscard]] bool any_takes() const;
    /// The rival that takes most; 0 where there is none.
    [[nodiscard]] std::uint32_t most_taking() const;
};

/// Bytes of what two blocks walk through of a cache or TLB that holds `least` bytes, or up to `most`: the own array
/// surely stays, both together surely don't.
struct Footprints {
    Footprints(std::uint64_t least, std::uint64_t most);
    std::uint64_t own, together;
};

/// What a block on SM 0 loses to one on each SM in turn, or those to it where it keeps all. `cost`: cycles that a load
/// takes longer when all that it had is gone.
[[nodiscard]] Sharing compete_with_all(const Context& context, InterferenceChase& competition, double cost);

/// Adds the estimate for `path`, such as caches.l1.scope; `method` says what was done. What a second block on SM 0
/// takes is the measure of what sharing costs: policies that keep what is used lose only a part.
void report_scope(const Context& context, const std::string& path, const Sharing& sharing, const std::string& method,
                  Outcome& outcome);

/// Where of several warps of another block on SM 0, one for each scheduler, only one takes what the first warp of SM 0
/// had: says that each scheduler has its own, and returns true. `warps`: what each takes, by its number.
[[nodiscard]] bool report_scheduler(const std::string& path, const Sharing& warps, const std::string& method,
                                    Outcome& outcome);

}  // namespace gputomo::experiments
