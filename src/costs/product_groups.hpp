// The groups of asynchronous matrix products of a warp group.
#pragma once

#include <cstdint>

namespace gputomo::costs {

/// Products that were committed as a group (wgmma.commit_group) count as one instruction of a dependence barrier of
/// their own, behind those that control fields name. WARPGROUP.DEPBAR waits for it as DEPBAR does for others.
inline constexpr std::uint8_t kProductGroups = 6;

}  // namespace gputomo::costs
