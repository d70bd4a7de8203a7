// Cache and TLB geometry and replacement policy, deduced from which loads of a pointer chase hit and which miss.
//
// Most steps ask whether a group of lines is resident together (chase/probe.hpp):
// 1. Sector: after an eviction, a run in single words misses once per sector (sets/line.hpp).
// 2. Equal sets with a modulo index, from contiguous arrays (arrays/equal_sets.hpp). This is cheap, and no other step
//    works where an upper level filters lookups. Without such a level, steps 3 and 4 follow if step 5 refutes the
//    result.
// 3. An eviction set, found by group testing without an assumption about the index (sets/eviction_set.hpp). The line
//    size is the smallest shift that moves an address of it to another line (sets/line.hpp).
// 4. Index: the line number modulo the sets, or XORs of address bits, found by linear algebra (sets/index.hpp).
// 5. Ways of each set, also of unequal sets. Confidence is the share of unseen groups of lines whose hits and misses
//    the geometry predicts (sets/sets.hpp).
// 6. Policy: each candidate has to explain which lines a full set evicted (policy/policy.hpp).
#pragma once

#include "deduce/cache/chase/chase.hpp"
#include "deduce/cache/chase/question.hpp"
#include "deduce/cache/findings/findings.hpp"

namespace gputomo::deduce {

/// `chase` runs on buffers of `question.buffer_bytes` bytes. What cannot be found out stays at confidence 0; running
/// out of the load budget is a remark, not an error.
[[nodiscard]] CacheFindings deduce_geometry(const Chase& chase, const CacheQuestion& question);

}  // namespace gputomo::deduce
