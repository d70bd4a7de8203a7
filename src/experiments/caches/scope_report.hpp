// Which SMs share a part of the memory system, and the estimate that reports it.
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
    double own_loss = 0;    ///< share of the data of one block on SM 0 that another block there evicts
    double loss_apart = 0;  ///< largest share that an SM evicts which does not share
    [[nodiscard]] bool decided() const { return !sms.empty() && unclear.empty(); }
};

/// What each SM evicts of SM 0's data, SM 0 being one of them.
struct Sharing {
    struct Loss {
        std::uint32_t rival = 0;
        double lost = 0;  ///< share of SM 0's data that the rival evicts
    };
    std::vector<Loss> losses;
    bool rivals_lose = false;  ///< `lost` is the share that each rival itself lacks, because SM 0 keeps its data

    [[nodiscard]] Sharers sharers() const;
    /// The SMs that evict as much as `one` does.
    [[nodiscard]] Sharers sharers_like(std::uint32_t one) const;
    /// Whether any evicts enough to serve as the reference.
    [[nodiscard]] bool any_takes() const;
    /// The rival that evicts most; 0 if there is none.
    [[nodiscard]] std::uint32_t most_taking() const;
};

/// Bytes of the arrays of two blocks for a cache or TLB that holds between `least` and `most` bytes. The first block's
/// array certainly fits, both together certainly do not.
struct Footprints {
    Footprints(std::uint64_t least, std::uint64_t most);
    std::uint64_t own, together;
};

/// The loss of a block on SM 0 to a block on each SM in turn, or their loss to it if it keeps all its data. `cost`:
/// cycles that a load takes longer when it misses.
[[nodiscard]] Sharing compete_with_all(const Context& context, InterferenceChase& competition, double cost);

/// Adds the estimate for `path`, such as caches.l1.scope, with `method` as its method. The evictions by a second block
/// on SM 0 are the reference for sharing, because policies that keep used lines lose only a part.
void report_scope(const Context& context, const std::string& path, const Sharing& sharing, const std::string& method,
                  Outcome& outcome);

/// Another block on SM 0 runs several warps, one for each scheduler. If only one of them evicts the first warp's lines,
/// this adds the estimate that each scheduler has a cache of its own and returns true. `warps`: what each warp evicts,
/// by its number.
[[nodiscard]] bool report_scheduler(const std::string& path, const Sharing& warps, const std::string& method,
                                    Outcome& outcome);

}  // namespace gputomo::experiments
