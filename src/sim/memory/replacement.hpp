// Replacement policies: which way of a full set is the victim.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::sim {

/// State of one policy for all sets of a cache. Ways are numbered from 0 in each set.
class Replacement {
public:
    virtual ~Replacement() = default;
    /// A lookup hit `way`.
    virtual void touch(std::uint32_t set, std::uint32_t way) = 0;
    /// `way` was filled after a miss.
    virtual void fill(std::uint32_t set, std::uint32_t way) = 0;
    /// The way to evict from a full set.
    virtual std::uint32_t victim(std::uint32_t set) = 0;
};

/// Makes the policy a machine description names. `set_ways` has the ways of each set; `way_odds` is for "way-odds".
/// Throws std::invalid_argument for a policy that cannot be simulated.
[[nodiscard]] std::unique_ptr<Replacement> make_replacement(std::string_view policy, std::vector<std::uint32_t> set_ways,
                                                            std::vector<double> way_odds, std::uint64_t seed);

}  // namespace gputomo::sim
