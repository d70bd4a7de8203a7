#include "answer/changes.hpp"

#include "answer/flop.hpp"
#include "sim/sm/engine/residency.hpp"
#include "sim/sm/load_store/coalescer.hpp"
#include "sim/sm/load_store/load_ports.hpp"
#include "sim/sm/load_store/shared_banks.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_set>
#include <utility>

namespace gputomo::answer {
namespace {

using launch::AccessKind;
using launch::BlockTrace;
using launch::LaunchProfile;
using launch::StepKind;
using launch::TouchedLine;
using launch::WarpAccess;
using launch::WarpEvent;

constexpr std::uint64_t kLineBytes = launch::kTouchedLineBytes, kSectorBytes = launch::kTouchedSectorBytes;
constexpr std::uint32_t kAllSectors = 0xf;
/// Bytes of the widest access of a thread.
constexpr std::uint32_t kWidest = 16;
/// Time of shared memory over that without conflicts below which conflicts change nothing.
constexpr double kFewConflicts = 1.02;
/// Sectors over those of coalesced accesses below which coalescing changes nothing.
constexpr double kFewSectors = 1.1;
/// Share of the threads of executed warps that take part, above which divergence changes little.
constexpr double kMostThreads = 0.85;
/// A step of which more threads take part is not divergent.
constexpr double kWholeWarp = 0.97;
/// Share of lines of local memory, and of atomics that would be spared, below which a change is not tried.
constexpr double kFewLocal = 0.02, kFewSpared = 0.3;
/// Copies of recorded blocks lie this many lines apart, farther than any memory is large.
constexpr std::uint64_t kCopyLines = std::uint64_t{1} << 44;

bool is_access(const WarpEvent& event) { return event.access < launch::kNotExecuted; }

bool is_local(const BlockTrace& block, const WarpAccess& access) {
    return access.lines > 0 && block.lines[access.first].line >= launch::kLocalMemory / kLineBytes;
}

/// A load or store of global memory that coalescing could change.
bool is_global(const BlockTrace& block, const launch::ProfiledStep& step, const WarpAccess& access) {
    return access.lines > 0 && access.kind != AccessKind::atomic && access.lanes > 0 && access.bytes > 0 &&
           (step.kind == StepKind::global || step.kind == StepKind::copy) &&
           (access.stage == launch::Stage::storage || access.stage == launch::Stage::first_cache) &&
           !is_local(block, access);
}

template <class Visit>
void for_each_block(LaunchProfile& profile, const Visit& visit) {
    for (auto& sm : profile.sms)
        for (auto& block : sm) visit(block);
    for (auto& block : profile.longest) visit(block);
}

/// Instructions by how often a change touched them.
class Touched {
public:
    explicit Touched(std::size_t steps) : counts_(steps) {}
    void add(std::size_t step) { ++counts_[step]; }
    [[nodiscard]] std::vector<std::size_t> most() const {
        std::vector<std::size_t> steps;
        for (std::size_t i = 0; i < counts_.size(); ++i)
            if (counts_[i] > 0) steps.push_back(i);
        std::ranges::stable_sort(steps, std::ranges::greater(), [this](std::size_t i) { return counts_[i]; });
        return steps;
    }

private:
    std::vector<std::size_t> counts_;
};

std::uint64_t lines_of(const WarpAccess& access) {
    return (std::uint64_t{access.lanes} * access.bytes + kLineBytes - 1) / kLineBytes;
}
std::uint64_t sectors_of(const WarpAccess& access) {
    return (std::uint64_t{access.lanes} * access.bytes + kSectorBytes - 1) / kSectorBytes;
}
std::uint64_t touched_sectors(const BlockTrace& block, const WarpAccess& access) {
    std::uint64_t sectors = 0;
    for (std::size_t i = access.first; i < std::size_t{access.first} + access.lines; ++i)
        sectors += static_cast<std::uint64_t>(std::popcount(block.lines[i].sectors));
    return sectors;
}

/// Gives accesses whose words lie side by side their time at the port to the first cache, as the recorder does.
class SideBySide {
public:
    explicit SideBySide(const machine::Machine& machine)
        : port_(sim::load_ports_of(machine)[static_cast<std::size_t>(sim::PathKind::global)]), coalescers_(machine) {
        if (machine.shared.banks) banks_.emplace(machine.shared);
    }

    void price(WarpAccess& access) {
        std::array<std::uint64_t, kWarpSize> addresses{};
        const std::uint32_t mask = access.lanes >= kWarpSize ? ~0U : (1U << access.lanes) - 1;
        for (std::size_t lane = 0; lane < addresses.size(); ++lane) addresses[lane] = lane * access.bytes;
        const bool near = access.kind == AccessKind::load && !access.skips_near;
        const auto& segments =
            (near ? coalescers_.global : coalescers_.global_far).merge(addresses, mask, access.bytes);
        if (port_.transaction == 0 || (port_.of_storage && !banks_)) {
            access.stage_cycles = static_cast<float>(segments.size());
            return;
        }
        const auto time =
            sim::port_time(port_, *banks_,
                           {.kind = access.kind == AccessKind::store ? sim::AccessKind::store : sim::AccessKind::load,
                            .bytes = access.bytes,
                            .addresses = addresses,
                            .mask = mask},
                           segments);
        access.stage_cycles = static_cast<float>(time.stage);
        access.returning = static_cast<float>(time.returning);
        access.conflict = static_cast<float>(time.spread);
        access.spread = static_cast<float>(port_.spacing * static_cast<double>(segments.size() - 1));
    }

private:
    sim::LoadPort port_;
    sim::Coalescers coalescers_;
    std::optional<sim::SharedBanks> banks_;
};

double mean_events(const LaunchProfile& profile) {
    double events = 0, blocks = 0;
    for (const auto& sm : profile.sms)
        for (const auto& block : sm) {
            for (const auto& warp : block.warps) events += static_cast<double>(warp.size());
            ++blocks;
        }
    return blocks > 0 ? events / blocks : 0;
}

/// Scales the counts of sampled blocks, so that they keep their relation to the recorded ones.
void scale_counts(LaunchProfile& profile, double factor) {
    for (auto& block : profile.sampled) block.instructions *= factor;
}

/// Removes the events that `drops` names. Returns whether there were any.
template <class Drops>
bool drop_events(LaunchProfile& profile, const Drops& drops) {
    const double before = mean_events(profile);
    bool any = false;
    for_each_block(profile, [&](BlockTrace& block) {
        for (auto& warp : block.warps)
            any = std::erase_if(warp, [&](const WarpEvent& event) { return drops(block, event); }) > 0 || any;
    });
    if (before > 0) scale_counts(profile, mean_events(profile) / before);
    return any;
}

// ---- coalescing

/// Leaves an access only as many lines as its words need: in turn `turn`, the next ones of those that it touched.
void coalesce(BlockTrace& block, WarpAccess& access, std::size_t turn, SideBySide& side_by_side) {
    const auto lines = std::min<std::uint64_t>(lines_of(access), access.lines);
    auto sectors = sectors_of(access);
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

// ---- several threads' work in one

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
        bool loaded = false;
        for (std::size_t i = 0; i < first.warps[w].size(); ++i) {
            const WarpEvent event = first.warps[w][i];
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
                        kFewSectors * static_cast<double>(sectors_of(access)))
                        return 0;
                    widest = std::max<std::uint32_t>(widest, access.bytes);
                }
    return widest == 0 || widest >= kWidest ? 0 : kWidest / widest;
}

// ---- divergence

/// Steps that follow each other with the same share of threads are kept or dropped together.
std::vector<std::size_t> runs_of(const std::vector<double>& shares) {
    std::vector<std::size_t> runs(shares.size());
    for (std::size_t i = 1; i < shares.size(); ++i)
        runs[i] = runs[i - 1] + (std::abs(shares[i] - shares[i - 1]) > 1e-6 ? 1 : 0);
    return runs;
}

/// Keeps the share of a warp's events that full warps would execute. Dropped accesses leave their lines to the next one
/// that is kept.
void fill_warp(BlockTrace& block, std::vector<WarpEvent>& warp, std::size_t number, const LaunchProfile& profile,
               const std::vector<double>& shares, const std::vector<std::size_t>& runs, Touched& touched) {
    // Multiples of the golden ratio spread evenly between 0 and 1.
    constexpr double kGolden = 0.6180339887498949;
    const auto start = [&](std::size_t step) {
        const double at =
            kGolden * static_cast<double>(number + 1) + kGolden * kGolden * static_cast<double>(runs[step]);
        return at - std::floor(at);
    };
    std::map<std::size_t, double> due;
    std::map<std::size_t, std::vector<TouchedLine>> left;
    std::vector<WarpEvent> kept;
    for (const auto& event : warp) {
        const auto kind = profile.steps[event.step].kind;
        if (shares[event.step] >= kWholeWarp || kind == StepKind::block_barrier || kind == StepKind::branch) {
            kept.push_back(event);
            continue;
        }
        touched.add(event.step);
        const auto [known, first] = due.try_emplace(event.step, 0);
        if (first) known->second = start(event.step);
        known->second += shares[event.step];
        auto& lines = left[event.step];
        if (known->second < 1) {
            if (is_access(event) && lines.size() < kWarpSize) {
                const auto& access = block.accesses[event.access];
                const auto from = block.lines.begin() + access.first;
                lines.insert(lines.end(), from, from + access.lines);
            }
            continue;
        }
        known->second -= 1;
        kept.push_back(event);
        if (!is_access(event) || lines.empty()) continue;
        WarpAccess access = block.accesses[event.access];
        const auto before = static_cast<float>(access.lines);
        const std::vector<TouchedLine> own(block.lines.begin() + access.first,
                                           block.lines.begin() + access.first + access.lines);
        access.first = static_cast<std::uint32_t>(block.lines.size());
        access.lines = static_cast<std::uint16_t>(access.lines + lines.size());
        block.lines.insert(block.lines.end(), own.begin(), own.end());
        block.lines.insert(block.lines.end(), lines.begin(), lines.end());
        if (before > 0) access.stage_cycles *= static_cast<float>(access.lines) / before;
        kept.back().access = static_cast<std::uint32_t>(block.accesses.size());
        block.accesses.push_back(access);
        lines.clear();
    }
    warp = std::move(kept);
}

}  // namespace

std::optional<ChangedProfile> without_bank_conflicts(const LaunchProfile& profile, const machine::Machine& machine) {
    double banks = 0, conflict_free = 0;
    for (const auto& block : profile.sampled) banks += block.bank_cycles, conflict_free += block.conflict_free_cycles;
    if (!machine.shared.banks || banks <= kFewConflicts * conflict_free) return {};
    ChangedProfile to{.id = "bank_conflicts",
                      .change = "with accesses to shared memory free of bank conflicts",
                      .profile = profile,
                      .steps = {}};
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

std::optional<ChangedProfile> with_coalesced_accesses(const LaunchProfile& profile, const machine::Machine& machine) {
    ChangedProfile to{.id = "coalesced",
                      .change =
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
                const auto ideal = std::min(sectors, sectors_of(access));
                before += static_cast<double>(sectors);
                needed += static_cast<double>(ideal);
                (access.kind == AccessKind::load ? loaded : stored) += static_cast<double>(ideal * kSectorBytes);
                if (sectors <= ideal && access.lines <= lines_of(access)) continue;
                touched.add(event.step);
                coalesce(block, access, turns[block.lines[access.first].line]++, side_by_side);
            }
    });
    if (before <= kFewSectors * needed) return {};
    // Bytes that no thread uses are not touched any more.
    const double of_grid = static_cast<double>(profile.blocks) / std::max(1.0, blocks);
    to.profile.footprint.read = std::min(profile.footprint.read, loaded * of_grid);
    to.profile.footprint.written = std::min(profile.footprint.written, stored * of_grid);
    to.steps = touched.most();
    return to;
}

std::optional<ChangedProfile> with_more_warps(const LaunchProfile& profile, const machine::Machine& machine) {
    const bool registers = profile.residency_limit == "registers";
    if (!registers && profile.residency_limit != "shared memory") return {};
    const auto most =
        sim::resident_blocks(
            machine,
            {.threads = profile.threads_of_block, .shared_bytes = 0, .registers_per_thread = 0, .arguments = 0})
            .blocks;
    std::size_t recorded = std::numeric_limits<std::size_t>::max();
    for (const auto& sm : profile.sms) recorded = std::min(recorded, sm.size());
    const auto sms = static_cast<std::uint64_t>(machine.topology.sms.value_or(1));
    const auto of_sm = (profile.blocks + sms - 1) / sms;
    // The second half of the recorded blocks tells how long further ones take.
    const auto seen = recorded >= of_sm ? of_sm : recorded / 2;
    const auto blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>({most, of_sm, seen}));
    if (blocks <= profile.resident_blocks) return {};
    ChangedProfile to{.id = "more_warps", .change = {}, .profile = profile, .steps = {}};
    to.profile.resident_blocks = blocks;
    int allowed = profile.registers;
    std::string how;
    if (registers) {
        while (allowed > 1 && sim::resident_blocks(machine, {.threads = profile.threads_of_block,
                                                             .shared_bytes = 0,
                                                             .registers_per_thread = allowed,
                                                             .arguments = 0})
                                      .blocks < blocks)
            --allowed;
        how = fmt::format("at most {} registers of a thread", allowed);
    } else {
        to.profile.shared_of_block = profile.shared_of_block * profile.resident_blocks / blocks;
        how = fmt::format("at most {} bytes of shared memory of a block", to.profile.shared_of_block);
    }
    to.change = fmt::format("with {} warps of an SM instead of {}: {}", blocks * profile.warps_of_block(),
                            profile.resident_blocks * profile.warps_of_block(), how);
    return to;
}

std::optional<ChangedProfile> with_wide_accesses(const LaunchProfile& profile, const machine::Machine& machine) {
    const auto together = mergeable(profile);
    const auto sms = static_cast<std::uint64_t>(machine.topology.sms.value_or(1));
    if (together < 2 || !profile.longest.empty() || !profile.blocks_of_sms.empty() ||
        profile.blocks / together < sms * profile.resident_blocks)
        return {};
    ChangedProfile to{
        .id = "wide_accesses",
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

std::optional<ChangedProfile> without_divergence(const LaunchProfile& profile, const machine::Machine& /*machine*/) {
    double executed = 0, threads = 0;
    std::vector<double> shares(profile.steps.size(), 1);
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (profile.executed[i] == 0 || profile.steps[i].kind == StepKind::branch) continue;
        shares[i] = std::min(1.0, profile.threads[i] / profile.executed[i] / kWarpSize);
        executed += profile.executed[i];
        threads += profile.threads[i];
    }
    const double share = executed > 0 ? threads / executed / kWarpSize : 1;
    if (share > kMostThreads) return {};
    ChangedProfile to{
        .id = "divergence",
        .change = fmt::format("with all threads of each warp at work, where {:.0f}% are in the mean now", 100 * share),
        .profile = profile,
        .steps = {}};
    const auto runs = runs_of(shares);
    Touched touched(profile.steps.size());
    const double before = mean_events(profile);
    std::size_t number = 0;
    for_each_block(to.profile, [&](BlockTrace& block) {
        for (auto& warp : block.warps) fill_warp(block, warp, number++, profile, shares, runs, touched);
    });
    if (before > 0) scale_counts(to.profile, mean_events(to.profile) / before);
    to.steps = touched.most();
    return to;
}

std::optional<ChangedProfile> without_spills(const LaunchProfile& profile, const machine::Machine& /*machine*/) {
    double local = 0, all = 0;
    for (const auto& sm : profile.sms)
        for (const auto& block : sm)
            for (const auto& access : block.accesses) {
                all += access.lines;
                if (is_local(block, access)) local += access.lines;
            }
    if (local <= kFewLocal * all) return {};
    ChangedProfile to{.id = "spills",
                      .change =
                          "without accesses to local memory: no spilled registers, and arrays of threads in "
                          "registers",
                      .profile = profile,
                      .steps = {}};
    Touched touched(profile.steps.size());
    (void)drop_events(to.profile, [&](const BlockTrace& block, const WarpEvent& event) {
        const bool drops = is_access(event) && is_local(block, block.accesses[event.access]);
        if (drops) touched.add(event.step);
        return drops;
    });
    to.steps = touched.most();
    return to;
}

std::optional<ChangedProfile> with_combined_atomics(const LaunchProfile& profile, const machine::Machine& /*machine*/) {
    ChangedProfile to{.id = "atomics",
                      .change =
                          "with the atomics of each block combined before they leave it (what that takes is not "
                          "counted)",
                      .profile = profile,
                      .steps = {}};
    Touched touched(profile.steps.size());
    double requests = 0, kept = 0;
    for_each_block(to.profile, [&](BlockTrace& block) {
        std::unordered_set<std::uint64_t> seen;
        for (auto& warp : block.warps)
            std::erase_if(warp, [&](const WarpEvent& event) {
                if (!is_access(event) || block.accesses[event.access].kind != AccessKind::atomic) return false;
                auto& access = block.accesses[event.access];
                touched.add(event.step);
                std::vector<TouchedLine> first;
                for (std::size_t i = access.first; i < std::size_t{access.first} + access.lines; ++i)
                    if (seen.insert(block.lines[i].line << 4 | block.lines[i].sectors).second)
                        first.push_back(block.lines[i]);
                requests += access.lines;
                kept += static_cast<double>(first.size());
                std::ranges::copy(first, block.lines.begin() + access.first);
                const auto share =
                    static_cast<float>(first.size()) / static_cast<float>(std::max<int>(1, access.lines));
                access.stage_cycles *= share;
                access.lines = static_cast<std::uint16_t>(first.size());
                return first.empty();
            });
    });
    if (requests == 0 || kept > (1 - kFewSpared) * requests) return {};
    for (auto& sector : to.profile.atomic_sectors) sector.requests *= kept / requests;
    to.profile.scattered_atomics *= kept / requests;
    to.steps = touched.most();
    return to;
}

std::optional<ChangedProfile> without_barriers(const LaunchProfile& profile, const machine::Machine& /*machine*/) {
    ChangedProfile to{.id = "barriers",
                      .change = "if the warps of a block did not wait for each other at barriers",
                      .profile = profile,
                      .steps = {}};
    Touched touched(profile.steps.size());
    const bool any = drop_events(to.profile, [&](const BlockTrace&, const WarpEvent& event) {
        const bool drops = profile.steps[event.step].kind == StepKind::block_barrier;
        if (drops) touched.add(event.step);
        return drops;
    });
    if (!any) return {};
    to.steps = touched.most();
    return to;
}

}  // namespace gputomo::answer
