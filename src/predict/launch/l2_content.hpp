// What the cache of the whole GPU holds when a launch begins.
#pragma once

#include "launch/memory_range.hpp"
#include "launch/profile/launch_profile.hpp"
#include "machine/machine.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::predict {

/// Parts of memory, each with the share of its granules that are resident. An empty list is an empty cache.
class L2Content {
public:
    struct Part {
        launch::MemoryRange range;
        double share = 0;
    };
    L2Content() = default;
    explicit L2Content(std::vector<Part> parts);

    /// Whether a granule is resident. A hash of its number decides, so that the share of a part's granules are.
    [[nodiscard]] bool holds(std::uint64_t granule, double granule_bytes) const;
    /// Nothing of memory lies elsewhere, so that all lines in the cache are of these parts.
    [[nodiscard]] bool empty() const { return parts_.empty(); }
    /// Share of the lines that a launch touches which are in the cache already, where they are its own; 0 otherwise.
    [[nodiscard]] double own_share() const { return own_share_; }
    void set_own_share(double share) { own_share_ = share; }
    /// Whether all lines are of other data that were written: each one that is displaced goes to DRAM.
    [[nodiscard]] bool is_dirty() const { return is_dirty_; }
    void set_dirty() { is_dirty_ = true; }

private:
    std::vector<Part> parts_;  ///< by address
    double own_share_ = 0;
    bool is_dirty_ = false;
};

/// What an earlier run of the same launch leaves. Where the launch touches less than the cache holds, that is all.
/// Otherwise lines displace each other, and a share h is still there. Where victims are random, a line stays with the
/// probability that no miss of a run chose it. For a footprint F and a capacity C, h = exp(-(1 - h) F / C). A policy
/// that replaces the least recent line replaces each before its next use.
[[nodiscard]] L2Content content_after_itself(const launch::LaunchProfile& profile, const machine::Machine& machine);

/// What a kernel leaves that wrote other data of the size of the cache, or more.
[[nodiscard]] L2Content dirty_content();

/// What an earlier launch with these buffers leaves: of each buffer, the share that its sampled blocks suggest.
[[nodiscard]] L2Content content_after(const launch::LaunchProfile& earlier,
                                      const std::vector<launch::MemoryRange>& buffers, const machine::Machine& machine);

}  // namespace gputomo::predict
