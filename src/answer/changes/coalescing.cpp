#include "answer/changes/changes.hpp"
#include "answer/changes/recorded_blocks.hpp"
#include "answer/changes/side_by_side.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace gputomo::answer::changes {
namespace {

constexpr std::uint32_t kAllSectors = 0xf;

/// Leaves an access only as many lines as its words need: in turn `turn`, the next ones of those that it touched.
void coalesce(BlockTrace& block, WarpAccess& access, std::size_t turn, SideBySide& side_by_side) {
    const auto lines = std::min<std::uint64_t>(lines_needed(access), access.lines);
    auto sectors = sectors_needed(access);
    std::vector<TouchedLine> kept;
    for (std::uint64_t i = 0; i < lines; ++i) {
        TouchedLine line = block.lines[access.first + (turn * lines + i) % access.lines];
        const auto own = std::min<std::uint64_t>(sectors, std::popcount(kAllSectors));
        line.sectors = (1U << own) - 1;
        line.partial = false;
        sectors -= own;
        kept.push_back(line);
    }
    std::ranges::copy(kept, block.lines.begin() + access.first);
    access.lines = static_cast<std::uint16_t>(lines);
    side_by_side.price(access);
}

}  // namespace

std::optional<ChangedProfile> with_coalesced_accesses(const LaunchProfile& profile, const machine::Machine& machine) {
    ChangedProfile to{.change =
                          "with accesses to global memory coalesced: the threads of a warp access words side by "
                          "side",
                      .profile = profile,
                      .steps = {}};
    SideBySide side_by_side(machine);
    Touched touched(profile.steps.size());
    double before = 0, needed = 0, blocks = 0, loaded = 0, stored = 0;
    for_each_block(to.profile, [&](BlockTrace& block) {
        ++blocks;
        // Accesses that begin in the same line take turns among their lines, whichever instruction they are of. The
        // loads of an unrolled loop over rows read all lines of these rows together.
        std::map<std::uint64_t, std::size_t> turns;
        for (auto& warp : block.warps)
            for (const auto& event : warp) {
                if (!is_access(event)) continue;
                auto& access = block.accesses[event.access];
                if (!is_global(block, profile.steps[event.step], access)) continue;
                const auto sectors = touched_sectors(block, access);
                const auto ideal = std::min(sectors, sectors_needed(access));
                before += static_cast<double>(sectors);
                needed += static_cast<double>(ideal);
                (access.kind == AccessKind::load ? loaded : stored) += static_cast<double>(ideal * kSectorBytes);
                if (sectors <= ideal && access.lines <= lines_needed(access)) continue;
                touched.add(event.step);
                coalesce(block, access, turns[block.lines[access.first].line]++, side_by_side);
            }
    });
    if (before <= kFewSectors * needed) return {};
    // Bytes that no thread uses are not touched any more.
    const double of_grid = static_cast<double>(profile.blocks) / std::max(1.0, blocks);
    to.profile.footprint.read = std::min(profile.footprint.read, loaded * of_grid);
    to.profile.footprint.fetched = std::min(profile.footprint.fetched, loaded * of_grid);
    to.profile.footprint.written = std::min(profile.footprint.written, stored * of_grid);
    to.steps = touched.most();
    return to;
}

}  // namespace gputomo::answer::changes
