// Whether arrays and groups of lines stay resident when they are loaded again and again in one order.
#pragma once

#include "deduce/cache/chase/probe.hpp"

#include <cstdint>

namespace gputomo::deduce::cache {

/// Passes after which an array that fits is resident, even under a random policy.
inline constexpr std::uint64_t kSettlingPasses = 16;
/// Sequences of at most 160 loads are repeated 300 times before they count, since a random policy finds the last free
/// way late. Longer sequences would take too many loads for that.
inline constexpr std::uint64_t kShortSequence = 160, kShortSequencePasses = 300;
/// Loads spent to see whether lines stay resident, as a multiple of the loads of the longest pass.
inline constexpr std::uint64_t kConfirmingPasses = 16;
/// Share of loads that may be slow besides outliers (other clients, DRAM refresh). If more are slow, the array misses
/// without a closer look.
inline constexpr double kFewSlow = 0.05;

class Residency {
public:
    /// `step`: bytes between the loads of an array.
    Residency(const Probe& probe, std::uint64_t step) : probe_(probe), step_(step) {}
    /// Whether lines that are not resident soon are observed for longer: under a random policy they may become so late.
    void set_patient(bool patient) { patient_ = patient; }

    /// Whether a contiguous array of this many bytes becomes resident.
    [[nodiscard]] bool array_fits(std::uint64_t bytes) const;
    /// Whether these lines become resident. One line too many makes its set miss once a pass, but under a random policy
    /// each single line misses rarely.
    [[nodiscard]] bool resident(const Offsets& offsets) const;
    /// Lines that do not fit miss at least once a pass under any policy. The outlier rate is known by then.
    [[nodiscard]] bool overflows(const Offsets& offsets) const;
    /// Loads that miss more often than outliers explain: less than one false alarm is expected in twenty sequences.
    [[nodiscard]] Offsets persistent_misses(const Offsets& offsets) const;
    /// The share of loads that miss in `passes` passes, after `warm` ones.
    [[nodiscard]] double miss_share(const Offsets& offsets, std::uint32_t warm = 4, std::uint32_t passes = 32) const;

private:
    const Probe& probe_;
    std::uint64_t step_;
    bool patient_ = true;
};

}  // namespace gputomo::deduce::cache
