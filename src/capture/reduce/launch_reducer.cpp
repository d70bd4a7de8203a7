#include "capture/reduce/launch_reducer.hpp"

#include "capture/decompress.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace gputomo::capture {
namespace {

namespace machine_code = sim::machine_code;

/// Blocks that are tried for each part of memory before all blocks are: the first, the last, and others.
constexpr std::uint64_t kTried = 6;
/// Groups of a buffer that are tried apart. More find smaller parts of a buffer that matter, and take longer.
constexpr std::size_t kGroups = 12;
/// How often blocks are added to those that are tried, because they executed something else in the end.
constexpr int kRounds = 4;
/// Bytes of memory in a capture, beyond which parts that repeat may take the place of the whole.
constexpr std::uint64_t kMost = std::uint64_t{3} << 19;
/// Bytes of memory in a capture that are kept of a launch that takes too long. Its warps may wait for what they hold.
constexpr std::uint64_t kMostUnproven = std::uint64_t{8} << 20;
/// By how much what is executed and touched may then differ.
constexpr double kTolerance = 0.005;
/// More parts than this repeat shorter pieces, so that all of them together stay below kMost.
constexpr std::size_t kWideTiles = 2;

std::uint64_t bytes_of(const Part& part) { return part.units.size() * kUnit; }

void mark_dirty(const Part& part) {
    for (const auto unit : part.units) part.region->dirty[unit * kUnit / kPage] = true;
}

void hold(const Part& part, Held held) {
    for (const auto unit : part.units) part.region->held[unit] = held;
    mark_dirty(part);
}

bool is_close(const Totals& a, const Totals& b) {
    const auto close = [](std::uint64_t x, std::uint64_t y) {
        return std::abs(static_cast<double>(x) - static_cast<double>(y)) <=
               kTolerance * static_cast<double>(std::max(x, y));
    };
    return close(a.warp_instructions, b.warp_instructions) && close(a.thread_instructions, b.thread_instructions) &&
           close(a.sectors, b.sectors) && close(a.units, b.units);
}

}  // namespace

void LaunchReducer::choose() {
    Watch first(regions_, Watch::Keeps::loads, deadline_);
    instructions_ = run({}, first);
    const Digests whole = first.digests();
    std::vector<Part> parts = parts_of_regions();
    // What is not read cannot matter.
    std::erase_if(parts, [](const Part& part) {
        if (part.region->loads[part.units.front()] != 0) return false;
        hold(part, Held::generated);
        return true;
    });
    std::ranges::stable_sort(parts, std::ranges::greater(), bytes_of);
    bool found = false;
    try {
        found = leave_out(parts, whole);
    } catch (const TimeLimitError&) {  // what is not read is left out all the same
    }
    if (!found)
        for (const Part& part : parts) hold(part, Held::own);
    approximate({}, parts, first.totals());
}

std::string LaunchReducer::guess(bool executable, Watch::Clock::time_point deadline) {
    deadline_ = deadline;
    std::vector<Part> parts;
    for (Region& region : regions_) {
        Part part{&region, {}};
        for (std::uint64_t unit = 0; unit < region.held.size(); ++unit)
            if (region.from_file[unit]) part.units.push_back(unit);
        if (bytes_of(part) > kSmall) parts.push_back(std::move(part));
    }
    std::ranges::stable_sort(parts, std::ranges::greater(), bytes_of);
    if (executable) {
        try {
            const auto blocks = first_blocks();
            leave_out_for(blocks, parts);
            approximate(blocks, parts, totals_for(blocks, parts));
            if (!difference_.empty())
                return fmt::format("{} of {} blocks were compared", blocks.size(), prepared_.launch().grid.count());
            return fmt::format("{} of {} blocks execute the same", blocks.size(), prepared_.launch().grid.count());
        } catch (const DeviceError&) {  // these blocks take too long too
        }
        for (const Part& part : parts) hold(part, Held::own);
    }
    std::size_t left_out = 0;
    while (left_out < parts.size() && (!executable || kept_size() > kMostUnproven))
        hold(parts[left_out++], Held::generated);
    if (left_out == 0) return "all of its memory is kept";
    if (left_out < parts.size()) return fmt::format("its {} largest buffers are left out", left_out);
    return fmt::format("buffers of more than {} bytes are left out", kSmall);
}

std::string LaunchReducer::try_other_contents() {
    std::vector<Part> parts;
    for (Region& region : regions_) {
        Part part{&region, {}};
        for (const auto& content : region.buffer->content)
            if (content.generated)
                for (auto unit = (content.offset + kUnit - 1) / kUnit; unit < (content.offset + content.bytes) / kUnit;
                     ++unit)
                    part.units.push_back(unit);
        if (!part.units.empty()) parts.push_back(std::move(part));
    }
    const auto blocks = first_blocks();
    Watch watch(regions_, Watch::Keeps::digests, deadline_);
    const std::uint64_t instructions = run(blocks, watch);
    const Digests digests = watch.digests();
    const Expected expected{digests, instructions};
    const auto same_with = [&](Held held) {
        for (const Part& part : parts) hold(part, held);
        const bool same = !compare(blocks, expected);
        for (const Part& part : parts) hold(part, Held::own);
        return same;
    };
    if (!same_with(Held::other))
        throw InputError(
            "what is executed depends on contents that were not captured; capture the launch again "
            "with a larger --max-memory");
    return fmt::format("{} of {} blocks execute the same with other numbers{}", blocks.size(),
                       prepared_.launch().grid.count(), same_with(Held::zero) ? " and with zeros" : ", not with zeros");
}

bool LaunchReducer::leave_out(const std::vector<Part>& parts, const Digests& whole) {
    std::vector<std::uint64_t> blocks = first_blocks();
    for (int round = 0; round < kRounds; ++round) {
        leave_out_for(blocks, parts);
        const auto different = compare({}, {whole, instructions_});
        if (!different) return true;
        if (std::ranges::find(blocks, *different) != blocks.end()) break;
        blocks.push_back(*different);
    }
    return false;
}

std::uint64_t LaunchReducer::run(const std::vector<std::uint64_t>& blocks, Watch& watch, std::uint64_t limit) {
    restore(regions_);
    auto launch = prepared_.launch();
    launch.gpu.sms = sms_;
    launch.instruction_limit = limit;
    launch.blocks = blocks;
    launch.observer = &watch;
    return machine_code::run(prepared_.program(), launch, prepared_.memory()).total;
}

Totals LaunchReducer::totals_for(const std::vector<std::uint64_t>& blocks, const std::vector<Part>& parts) {
    std::vector<std::vector<Held>> held;
    for (const Region& region : regions_) held.push_back(region.held);
    for (const Part& part : parts) hold(part, Held::own);
    Watch watch(regions_, Watch::Keeps::totals, deadline_);
    run(blocks, watch);
    for (std::size_t i = 0; i < regions_.size(); ++i) regions_[i].held = std::move(held[i]);
    for (const Part& part : parts) mark_dirty(part);
    return watch.totals();
}

void LaunchReducer::approximate(const std::vector<std::uint64_t>& blocks, const std::vector<Part>& parts,
                                const Totals& before) {
    if (kept_size() <= kMost) return;
    std::vector<const Part*> changed;
    for (const Part& part : parts)
        if (bytes_of(part) > kSmall && part.region->held[part.units.front()] == Held::own &&
            part.region->has_tile(period_of(Held::wide_tile)))
            changed.push_back(&part);
    if (changed.empty()) return;
    for (const Part* const part : changed) hold(*part, changed.size() > kWideTiles ? Held::long_tile : Held::wide_tile);
    try {
        Watch watch(regions_, Watch::Keeps::totals, deadline_);
        run(blocks, watch, 2 * before.warp_instructions);
        const Totals after = watch.totals();
        if (is_close(before, after)) {
            difference_ = fmt::format(
                "{} instead of {} warp instructions, {} instead of {} thread instructions, {} instead of {} "
                "sectors, {} instead of {} different lines",
                after.warp_instructions, before.warp_instructions, after.thread_instructions,
                before.thread_instructions, after.sectors, before.sectors, after.units, before.units);
            return;
        }
    } catch (const DeviceError&) {  // something else is executed
    }
    for (const Part* const part : changed) hold(*part, Held::own);
}

std::uint64_t LaunchReducer::kept_size() const {
    std::string kept;
    for (const Region& region : regions_)
        for (std::uint64_t unit = 0; unit < region.held.size(); ++unit)
            if (region.from_file[unit] && region.held[unit] == Held::own)
                kept.append(reinterpret_cast<const char*>(region.original.data()) + unit * kUnit,
                            std::min(kUnit, region.bytes - unit * kUnit));
    return capture::deflated(kept).size();
}

std::optional<std::uint64_t> LaunchReducer::compare(const std::vector<std::uint64_t>& blocks,
                                                    const Expected& expected) {
    Watch watch(regions_, Watch::Keeps::digests, deadline_);
    watch.expect(expected.digests);
    try {
        run(blocks, watch, expected.instructions);
    } catch (const DeviceError&) {  // an illegal address, a loop without an end, or threads that wait for ever
        if (Watch::Clock::now() > deadline_) throw;
        return blocks.empty() ? watch.digests().size() : blocks[watch.digests().size()];
    }
    return watch.different_block();
}

void LaunchReducer::leave_out_for(const std::vector<std::uint64_t>& blocks, const std::vector<Part>& parts) {
    for (const Part& part : parts) hold(part, Held::own);
    Watch watch(regions_, Watch::Keeps::digests, deadline_);
    const std::uint64_t instructions = run(blocks, watch);
    const Digests digests = watch.digests();
    const Expected expected{digests, instructions};
    const auto without = [&](const Part& part, Held held) {
        const auto period = period_of(held);
        if (period != 0 && (bytes_of(part) < 2 * period || !part.region->has_tile(period))) return false;
        hold(part, held);
        return true;
    };
    for (const Held held : {Held::generated, Held::short_tile}) {
        for (const Part& part : parts) without(part, held);
        if (!compare(blocks, expected)) return;
    }
    for (const Part& part : parts) hold(part, Held::own);
    for (const Part& part : parts) {
        bool fits = false;
        for (const Held held : {Held::generated, Held::short_tile, Held::zero, Held::long_tile})
            if (!fits) fits = without(part, held) && !compare(blocks, expected);
        if (!fits) hold(part, Held::own);
    }
}

std::vector<std::uint64_t> LaunchReducer::first_blocks() const {
    const std::uint64_t count = prepared_.launch().grid.count();
    std::vector<std::uint64_t> blocks;
    for (std::uint64_t i = 0; i < std::min(count, kTried); ++i)
        blocks.push_back(count <= kTried ? i : i * (count - 1) / (kTried - 1));
    return blocks;
}

std::vector<Part> LaunchReducer::parts_of_regions() {
    std::vector<Part> all;
    for (Region& region : regions_) {
        std::map<std::uint64_t, Part> by_loads;
        for (std::uint64_t unit = 0; unit < region.held.size(); ++unit) {
            if (!region.from_file[unit]) continue;
            Part& part = by_loads[region.loads[unit]];
            part.region = &region;
            part.units.push_back(unit);
        }
        std::vector<Part> parts;
        for (auto& [loads, part] : by_loads) {
            if (loads == 0)
                all.push_back(std::move(part));
            else
                parts.push_back(std::move(part));
        }
        std::ranges::stable_sort(parts, std::ranges::greater(), bytes_of);
        while (parts.size() > kGroups) {
            auto& last = parts[kGroups - 1].units;
            last.insert(last.end(), parts.back().units.begin(), parts.back().units.end());
            parts.pop_back();
        }
        std::ranges::move(parts, std::back_inserter(all));
    }
    return all;
}

}  // namespace gputomo::capture
