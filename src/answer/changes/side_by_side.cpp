#include "answer/changes/side_by_side.hpp"

#include "units/warp.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gputomo::answer::changes {

SideBySide::SideBySide(const machine::Machine& machine)
    : port_(sim::load_ports_of(machine)[static_cast<std::size_t>(sim::PathKind::global)]), coalescers_(machine) {
    if (machine.shared.banks) banks_.emplace(machine.shared);
}

void SideBySide::price(launch::WarpAccess& access) {
    std::array<std::uint64_t, kWarpSize> addresses{};
    const std::uint32_t mask = access.lanes >= kWarpSize ? ~0U : (1U << access.lanes) - 1;
    for (std::size_t lane = 0; lane < addresses.size(); ++lane) addresses[lane] = lane * access.bytes;
    const bool near = access.kind == launch::AccessKind::load && !access.skips_near;
    const auto& segments = (near ? coalescers_.global : coalescers_.global_far).merge(addresses, mask, access.bytes);
    if (port_.transaction == 0 || (port_.of_storage && !banks_)) {
        access.stage_cycles = static_cast<float>(segments.size());
        return;
    }
    const auto time = sim::port_time(
        port_, *banks_,
        {.kind = access.kind == launch::AccessKind::store ? sim::AccessKind::store : sim::AccessKind::load,
         .bytes = access.bytes,
         .addresses = addresses,
         .mask = mask},
        segments);
    access.stage_cycles = static_cast<float>(time.stage);
    access.returning = static_cast<float>(time.returning);
    access.conflict = static_cast<float>(time.spread);
    access.spread = static_cast<float>(port_.spacing * static_cast<double>(segments.size() - 1));
}

}  // namespace gputomo::answer::changes
