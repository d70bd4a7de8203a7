// Whether a cache has tags for more lines than it has data for.
#pragma once

#include "deduce/cache/arrays/equal_sets.hpp"
#include "deduce/cache/sets/index.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {

/// Most loads that full_sets_lack_data() takes.
inline constexpr std::uint64_t kDataLoads = std::uint64_t{8} << 20;

/// Whether `array` overflowed before any set had more lines than its `ways`. No further load is needed to see that.
/// False where sets are unequal, where no array one step larger was seen to overflow, or where the cache has more tags
/// than are tested together.
[[nodiscard]] bool overflows_before_sets_do(const Index& index, const std::vector<std::uint64_t>& ways,
                                            const Bracket& array, std::uint64_t base);

/// Whether the sets, all full, miss in each pass about as often as lines exceed the array's size. A few full sets,
/// whose data surely fit, must hardly miss. Sets that never settle when full, as under some pseudo-LRU trees, miss
/// however few they are. Call it where overflows_before_sets_do() holds.
[[nodiscard]] bool full_sets_lack_data(const Probe& probe, const Index& index, const std::vector<std::uint64_t>& ways,
                                       const Bracket& array);

}  // namespace gputomo::deduce::cache
