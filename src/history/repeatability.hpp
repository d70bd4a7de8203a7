// How much a value differs between scans of one GPU in which nothing changed, so that only more counts as a change.
#pragma once

#include "machine/diff.hpp"

#include <vector>

namespace gputomo::history {

/// A leaf in the scans of one specimen, in the order of time.
using Run = std::vector<machine::Leaf>;

/// Whether the step from `change.a` to `change.b` is as small as those between earlier scans. `own` are the earlier
/// scans of the specimen, with `change.a`, and `others` those of other specimens of its kind. Where there are few of
/// them, it is compared with what healthy scans of one GPU were found to differ by. Values other than numbers repeat if
/// the specimen had the value of `change.b` in an earlier scan.
[[nodiscard]] bool is_repeatable(const machine::Difference& change, const Run& own, const std::vector<Run>& others);

}  // namespace gputomo::history
