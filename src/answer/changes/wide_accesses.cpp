#include "answer/changes/changes.hpp"
#include "answer/changes/recorded_blocks.hpp"
#include "answer/changes/side_by_side.hpp"
#include "fmt/format.h"

#include <algorithm>

namespace gputomo::answer::changes {
namespace {

/// Bytes of the widest access of a thread.
constexpr std::uint32_t kWidest = 16;
/// Copies of recorded blocks lie this many lines apart, farther than any memory is large.
constexpr std::uint64_t kCopyLines = std::uint64_t{1} << 44;

/// Warps of blocks execute the same instructions, accesses at the same places.
bool execute_alike(const BlockTrace& a, const BlockTrace& b) {
    if (a.warps.size() != b.warps.size()) return false;
    for (std::size_t w = 0; w < a.warps.size(); ++w) {
        if (a.warps[w].size() != b.warps[w].size()) return false;
        for (std::size_t i = 0; i < a.warps[w].size(); ++i) {
            const auto &one = a.warps[w][i], &other = b.warps[w][i];
            if (one.step != other.step || is_access(one) != is_access(other)) return false;
            if (is_access(one) && a.accesses[one.access].lanes != b.accesses[other.access].lanes) return false;
        }
    }
    return true;
}

/// One block that does the work of several.
BlockTrace merged(const std::vector<const BlockTrace*>& blocks, const LaunchProfile& profile,
                  SideBySide& side_by_side) {
    const BlockTrace& first = *blocks.front();
    BlockTrace merged{.block = first.block, .warps = {}, .accesses = {}, .lines = {}};
    for (std::size_t w = 0; w < first.warps.size(); ++w) {
        auto& warp = merged.warps.emplace_back();
        std::size_t met = 0;
        auto& meetings = merged.meetings.emplace_back();
        if (w < first.meetings.size()) meetings = first.meetings[w];
        bool loaded = false;
        for (std::size_t i = 0; i < first.warps[w].size(); ++i) {
            const WarpEvent event = first.warps[w][i];
            if (met < meetings.size() && meetings[met].event == i)
                meetings[met++].event = static_cast<std::uint32_t>(warp.size());
            const auto& step = profile.steps[event.step];
            if (!is_access(event) || step.kind == StepKind::constant) {
                const bool each = loaded && step.kind == StepKind::compute;
                WarpEvent copy = event;
                if (is_access(event)) {
                    copy.access = static_cast<std::uint32_t>(merged.accesses.size());
                    WarpAccess access = first.accesses[event.access];
                    const auto from = first.lines.begin() + access.first;
                    access.first = static_cast<std::uint32_t>(merged.lines.size());
                    merged.lines.insert(merged.lines.end(), from, from + access.lines);
                    merged.accesses.push_back(access);
                }
                for (std::size_t n = 0; n < (each ? blocks.size() : 1); ++n) warp.push_back(copy);
                continue;
            }
            loaded = true;
            WarpAccess access = first.accesses[event.access];
            access.bytes = static_cast<std::uint8_t>(access.bytes * blocks.size());
            const auto at = static_cast<std::uint32_t>(merged.lines.size());
            for (const BlockTrace* const block : blocks) {
                const WarpAccess& part = block->accesses[block->warps[w][i].access];
                const auto from = block->lines.begin() + part.first;
                merged.lines.insert(merged.lines.end(), from, from + part.lines);
            }
            access.first = at;
            access.lines = static_cast<std::uint16_t>(merged.lines.size() - at);
            side_by_side.price(access);
            warp.push_back({.step = event.step, .access = static_cast<std::uint32_t>(merged.accesses.size())});
            merged.accesses.push_back(access);
        }
    }
    return merged;
}

/// How many threads' accesses fit one of the widest. 0 where the words of an access do not lie side by side. Accesses
/// that are not to global memory give 0 as well.
std::size_t mergeable(const LaunchProfile& profile) {
    std::uint32_t widest = 0;
    for (const auto& sm : profile.sms)
        for (const auto& block : sm)
            for (const auto& warp : block.warps)
                for (const auto& event : warp) {
                    const auto& step = profile.steps[event.step];
                    if (step.kind == StepKind::shared || step.kind == StepKind::block_barrier ||
                        step.kind == StepKind::copy)
                        return 0;
                    if (!is_access(event) || step.kind == StepKind::constant) continue;
                    const auto& access = block.accesses[event.access];
                    if (!is_global(block, step, access)) return 0;
                    if (static_cast<double>(touched_sectors(block, access)) >
                        kFewSectors * static_cast<double>(sectors_needed(access)))
                        return 0;
                    widest = std::max<std::uint32_t>(widest, access.bytes);
                }
    return widest == 0 || widest >= kWidest ? 0 : kWidest / widest;
}

}  // namespace

std::optional<ChangedProfile> with_wide_accesses(const LaunchProfile& profile, const machine::Machine& machine) {
    const auto together = mergeable(profile);
    const auto sms = static_cast<std::uint64_t>(machine.topology.sms.value_or(1));
    if (together < 2 || !profile.longest.empty() || !profile.blocks_of_sms.empty() ||
        profile.blocks / together < sms * profile.resident_blocks)
        return {};
    ChangedProfile to{
        .change = fmt::format("with accesses of {} bytes: each thread does the work of {}", kWidest, together),
        .profile = profile,
        .steps = {}};
    SideBySide side_by_side(machine);
    for (auto& sm : to.profile.sms) {
        const auto whole = sm.size() / together;
        if (whole == 0) return {};
        std::vector<BlockTrace> blocks;
        for (std::size_t i = 0; i < whole; ++i) {
            std::vector<const BlockTrace*> group;
            for (std::size_t n = 0; n < together; ++n) group.push_back(&sm[i * together + n]);
            for (const auto* const block : group)
                if (!execute_alike(*group.front(), *block)) return {};
            blocks.push_back(merged(group, profile, side_by_side));
        }
        // The SM keeps its number of recorded blocks, and the copies touch other lines.
        for (std::size_t i = whole; i < sm.size(); ++i) {
            BlockTrace copy = blocks[i % whole];
            for (auto& line : copy.lines) line.line += i / whole * kCopyLines;
            blocks.push_back(std::move(copy));
        }
        sm = std::move(blocks);
    }
    to.profile.blocks = (profile.blocks + together - 1) / together;
    scale_counts(to.profile, mean_events(to.profile) / std::max(1.0, mean_events(profile)));
    Touched touched(profile.steps.size());
    for (const auto& warp : profile.sms.front().front().warps)
        for (const auto& event : warp)
            if (is_access(event) && profile.steps[event.step].kind == StepKind::global) touched.add(event.step);
    to.steps = touched.most();
    return to;
}

}  // namespace gputomo::answer::changes
