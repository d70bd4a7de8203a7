// Accesses that are under way at once: what a compiler must not move between them.
#pragma once

#include "ptx/builder.hpp"

#include <span>

namespace gputomo::measure {

/// A predicate that is never true, which no compiler knows. A branch on it parts accesses from what waits for them:
/// together with append_joint_use it keeps ptxas from using, and so waiting for, the first results before it issues the
/// last access (13.0, sm_75 to sm_120, from some 15 accesses on).
[[nodiscard]] ptx::Reg append_false_predicate(ptx::KernelBuilder& k, ptx::Reg pointer);

/// Makes `sum` depend on all results (32 bits each), which they don't survive. A tree: a chain of as many dependent
/// operations could take longer than the accesses.
void append_joint_use(ptx::KernelBuilder& k, std::span<const ptx::Reg> results, ptx::Reg sum);

}  // namespace gputomo::measure
