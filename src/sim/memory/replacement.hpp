// Replacement policies: which way of a full set is the victim.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::sim {

/// State of one policy for all sets of a cache. Ways are numbered from 0 in each set. They fill in that order before
/// victim() is called for the first time.
class Replacement {
public:
    virtual ~Replacement() = default;
    /// A lookup hit `way`.
    virtual void touch(std::uint32_t set, std::uint32_t way) = 0;
    /// `way` was filled after a miss.
    virtual void fill(std::uint32_t set, std::uint32_t way) = 0;
    /// The way to evict from a full set; fill() of that way follows.
    virtual std::uint32_t victim(std::uint32_t set) = 0;
};

struct ReplacementSetup {
    std::string_view policy;
    const std::vector<std::uint32_t>& set_ways;  ///< ways of each set
    const std::vector<double>& way_odds;         ///< for "way-odds": one for each way, sum 1
    std::uint64_t seed = 0;                      ///< of the random policies
};

/// Names of the policies that can be simulated.
[[nodiscard]] std::vector<std::string_view> replacement_policies();

/// Throws std::invalid_argument for a policy that replacement_policies() does not list.
[[nodiscard]] std::unique_ptr<Replacement> make_replacement(const ReplacementSetup& setup);

}  // namespace gputomo::sim
