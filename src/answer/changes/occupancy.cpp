#include "answer/changes/changes.hpp"
#include "answer/changes/recorded_blocks.hpp"
#include "sim/sm/engine/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace gputomo::answer::changes {
namespace {

using launch::LaunchProfile;

/// Blocks that an SM would hold at once, with at most so many as the recorded blocks show the time of.
class ResidentBlocks {
public:
    ResidentBlocks(const LaunchProfile& profile, const machine::Machine& machine)
        : profile_(profile), machine_(machine) {
        std::size_t recorded = std::numeric_limits<std::size_t>::max();
        for (const auto& sm : profile.sms) recorded = std::min(recorded, sm.size());
        const auto sms = static_cast<std::uint64_t>(machine.topology.sms.value_or(1));
        const auto of_sm = (profile.blocks + sms - 1) / sms;
        // The second half of the recorded blocks tells how long further ones take.
        most_ = std::min<std::uint64_t>(of_sm, recorded >= of_sm ? of_sm : recorded / 2);
    }

    /// How many, where blocks are `together` times as large and need these registers and bytes of shared memory.
    [[nodiscard]] std::uint32_t with(int registers, std::uint64_t shared, std::uint64_t together = 1) const {
        const auto blocks = sim::resident_blocks(machine_, {.threads = profile_.threads_of_block * together,
                                                            .shared_bytes = shared * together,
                                                            .registers_per_thread = registers,
                                                            .arguments = 0})
                                .blocks;
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks * together, most_));
    }

private:
    const LaunchProfile& profile_;
    const machine::Machine& machine_;
    std::uint64_t most_ = 0;
};

/// One block with the warps of all of these.
launch::BlockTrace merged(std::span<const launch::BlockTrace> blocks) {
    launch::BlockTrace to{.block = blocks.front().block};
    for (const auto& block : blocks) {
        const auto accesses = static_cast<std::uint32_t>(to.accesses.size());
        const auto lines = static_cast<std::uint32_t>(to.lines.size());
        for (auto warp : block.warps) {
            for (auto& event : warp)
                if (is_access(event)) event.access += accesses;
            to.warps.push_back(std::move(warp));
        }
        for (auto meetings : block.meetings) {
            for (auto& use : meetings) use.expected *= static_cast<std::uint32_t>(blocks.size());
            to.meetings.push_back(std::move(meetings));
        }
        for (auto access : block.accesses) {
            access.first += lines;
            to.accesses.push_back(access);
        }
        to.lines.insert(to.lines.end(), block.lines.begin(), block.lines.end());
    }
    return to;
}

/// Makes blocks that are `together` times as large of those of each SM. Returns whether the profile has what that
/// takes.
bool merge_blocks(LaunchProfile& profile, std::size_t together) {
    if (!profile.longest.empty() || !profile.blocks_of_sms.empty()) return false;
    for (auto& sm : profile.sms) {
        std::vector<launch::BlockTrace> blocks;
        for (std::size_t i = 0; i + together <= sm.size(); i += together)
            blocks.push_back(merged(std::span(sm).subspan(i, together)));
        // Barriers in shared memory are numbered within a block.
        const bool has_phases = std::ranges::any_of(sm, [](const launch::BlockTrace& block) {
            return std::ranges::any_of(block.phases, [](const auto& of_warp) { return !of_warp.empty(); });
        });
        if (blocks.empty() || has_phases) return false;
        sm = std::move(blocks);
    }
    const double of_block = static_cast<double>(together);
    scale_counts(profile, of_block);
    for (double& executed : profile.executed) executed *= of_block;
    for (double& threads : profile.threads) threads *= of_block;
    profile.blocks = (profile.blocks + together - 1) / together;
    profile.threads_of_block *= together;
    profile.shared_of_block *= together;
    return true;
}

std::optional<ChangedProfile> with_resident(const LaunchProfile& profile, std::uint32_t blocks) {
    if (blocks <= profile.resident_blocks) return {};
    ChangedProfile to{.change = fmt::format("with {} warps of an SM instead of {}: ", blocks * profile.warps_of_block(),
                                            profile.resident_blocks * profile.warps_of_block()),
                      .profile = profile,
                      .steps = {}};
    to.profile.resident_blocks = blocks;
    return to;
}

}  // namespace

std::optional<ChangedProfile> with_more_warps(const LaunchProfile& profile, const machine::Machine& machine) {
    const ResidentBlocks resident(profile, machine);
    const auto& limit = profile.residency_limit;
    auto to = with_resident(profile, limit == "registers" || limit == "shared memory" ? resident.with(0, 0) : 0);
    if (!to) return {};
    const auto blocks = to->profile.resident_blocks;
    if (limit == "registers") {
        int allowed = profile.registers;
        while (allowed > 1 && resident.with(allowed, 0) < blocks) --allowed;
        to->change += fmt::format("at most {} registers of a thread", allowed);
    } else {
        to->profile.shared_of_block = profile.shared_of_block * profile.resident_blocks / blocks;
        to->change += fmt::format("at most {} bytes of shared memory of a block", to->profile.shared_of_block);
    }
    return to;
}

std::optional<ChangedProfile> with_larger_blocks(const LaunchProfile& profile, const machine::Machine& machine) {
    if (profile.residency_limit != "blocks of an SM") return {};
    const ResidentBlocks resident(profile, machine);
    // Where the description does not say how large a block may be, it may fill the SM.
    const auto most = static_cast<std::uint64_t>(machine.topology.max_threads_per_block.value_or(
        machine.topology.max_threads_per_sm.value_or(sim::kDefaultThreadsPerSm)));
    std::uint32_t blocks = 0;
    std::uint64_t together = 1;
    for (std::uint64_t n = 2; n * profile.threads_of_block <= most; n *= 2)
        if (const auto found = resident.with(profile.registers, profile.shared_of_block, n); found > blocks)
            blocks = found, together = n;
    auto to = with_resident(profile, blocks);
    if (!to || !merge_blocks(to->profile, together)) return {};
    to->profile.resident_blocks = static_cast<std::uint32_t>(blocks / together);
    to->change += fmt::format("blocks of {} threads", to->profile.threads_of_block);
    return to;
}

}  // namespace gputomo::answer::changes
