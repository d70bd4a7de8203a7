#include "sim/sm/ptx/warp_members.hpp"

#include "sim/exec/lane_fault.hpp"
#include "sim/exec/lanes.hpp"

#include <fmt/format.h>

namespace gputomo::sim {

bool leave_unguarded(WarpPaths& paths, std::uint32_t mask) {
    const auto pc = paths.current().pc;
    if (!paths.independent() || mask == paths.current().mask) return false;
    return paths.branch(mask, {.taken = pc, .not_taken = pc + 1, .reconverge = pc + 1});
}

std::uint32_t needed_members(const WarpPaths& paths, const LaneValues& members, std::uint32_t mask) {
    std::uint32_t needed = 0;
    for_lanes(mask, [&](int lane) {
        const auto named = as<std::uint32_t>(members[static_cast<std::size_t>(lane)]);
        if (((named >> lane) & 1) == 0)
            throw LaneFault(lane, fmt::format("a thread that is not in its own member mask 0x{:08x}", named));
        needed |= named;
    });
    return needed & paths.live();
}

bool members_are_there(WarpPaths& paths, const LaneValues& members, std::uint32_t mask) {
    const std::uint32_t missing = needed_members(paths, members, mask) & ~mask;
    if (missing == 0) return true;
    if (!paths.independent())
        throw LaneFault(
            std::countr_zero(mask),
            fmt::format("members 0x{:08x} are not there, and without independent scheduling they cannot come;",
                        missing));
    if (!leave_unguarded(paths, mask)) paths.wait_for_members();
    return false;
}

}  // namespace gputomo::sim
