// How much memory sampled blocks touch.
#pragma once

#include "costs/partial_stores.hpp"
#include "launch/profile/launch_profile.hpp"

#include <span>

namespace gputomo::predict {

/// Bytes of the different L2 granules that these blocks read, and of those that they write.
struct TouchedBytes {
    double read = 0, written = 0;
    double written_sectors = 0, written_lines = 0;  ///< how many different ones
    double stored = 0;                              ///< different bytes of these lines
};
/// The bytes of its line that a store writes.
[[nodiscard]] inline costs::LineBytes written_by(const launch::TouchedLine& store) {
    return store.partial ? store.written : costs::LineBytes::of_sectors(store.sectors);
}
[[nodiscard]] TouchedBytes touched_bytes(std::span<const launch::BlockTrace> blocks, double granule);

}  // namespace gputomo::predict
