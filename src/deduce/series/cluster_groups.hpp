// Which SMs clusters join: SMs on which blocks of one cluster were seen belong together.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace gputomo::deduce {

class ClusterGroups {
public:
    explicit ClusterGroups(std::uint32_t sms) : parent_(sms), seen_(sms) {
        for (std::uint32_t sm = 0; sm < sms; ++sm) parent_[sm] = sm;
    }
    /// A block of this cluster of this launch ran on the SM. SMs beyond those of the GPU are left out.
    void add(std::uint32_t launch, std::uint32_t cluster, std::uint32_t sm);
    /// SMs of each group of at least two, the largest first.
    [[nodiscard]] std::vector<std::int64_t> sizes() const;
    /// SMs on which a block was seen.
    [[nodiscard]] std::uint32_t seen() const;

private:
    [[nodiscard]] std::uint32_t root(std::uint32_t sm) const;
    std::vector<std::uint32_t> parent_;
    std::vector<bool> seen_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> first_;  ///< SM by launch and cluster
};

}  // namespace gputomo::deduce
