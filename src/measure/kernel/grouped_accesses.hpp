// Keeps the compiler from moving uses in between accesses that must be in flight together.
#pragma once

#include "ptx/builder.hpp"

#include <span>

namespace gputomo::measure {

/// A predicate that is never true, which no compiler can know. A branch on it separates accesses from the code that
/// waits for them. Together with append_joint_use it keeps ptxas from using the first results before it issues the
/// last access. (ptxas 13.0 does that for sm_75 to sm_120, from about 15 accesses on.)
[[nodiscard]] ptx::Reg append_false_predicate(ptx::KernelBuilder& k, ptx::Reg pointer);

/// Makes `sum` depend on all results (32 bits each), and overwrites them. It builds a tree, because a chain of
/// dependent operations could take longer than the accesses.
void append_joint_use(ptx::KernelBuilder& k, std::span<const ptx::Reg> results, ptx::Reg sum);

}  // namespace gputomo::measure
