#include "answer/changes/changes.hpp"
#include "answer/changes/recorded_blocks.hpp"
#include "sim/sm/load_store/shared_banks.hpp"
#include "units/warp.hpp"

#include <algorithm>
#include <array>

namespace gputomo::answer::changes {
namespace {

/// Time of shared memory over that without conflicts below which conflicts change nothing.
constexpr double kFewConflicts = 1.02;

}  // namespace

std::optional<ChangedProfile> without_bank_conflicts(const LaunchProfile& profile, const machine::Machine& machine) {
    double banks = 0, conflict_free = 0;
    for (const auto& block : profile.sampled) banks += block.bank_cycles, conflict_free += block.conflict_free_cycles;
    if (!machine.shared.banks || banks <= kFewConflicts * conflict_free) return {};
    ChangedProfile to{
        .change = "with accesses to shared memory free of bank conflicts", .profile = profile, .steps = {}};
    const sim::SharedBanks side_by_side(machine.shared);
    Touched touched(profile.steps.size());
    for_each_block(to.profile, [&](BlockTrace& block) {
        for (const auto& warp : block.warps)
            for (const auto& event : warp) {
                if (!is_access(event)) continue;
                auto& access = block.accesses[event.access];
                if (access.bank_cycles <= 0 || access.lanes == 0) continue;
                std::array<std::uint64_t, kWarpSize> addresses{};
                for (std::size_t lane = 0; lane < addresses.size(); ++lane) addresses[lane] = lane * access.bytes;
                const std::uint32_t mask = access.lanes >= kWarpSize ? ~0U : (1U << access.lanes) - 1;
                const auto found = side_by_side.access(addresses, mask, {.bytes = access.bytes});
                if (static_cast<float>(found.occupancy) >= access.bank_cycles) continue;
                touched.add(event.step);
                access.bank_cycles = static_cast<float>(found.occupancy);
                access.bank_latency = std::min(access.bank_latency, static_cast<float>(found.latency));
                access.returning = std::min(access.returning, static_cast<float>(found.returning));
                access.conflict = std::min(access.conflict, static_cast<float>(found.conflict));
            }
    });
    to.steps = touched.most();
    return to;
}

}  // namespace gputomo::answer::changes
