#include "predict/launch/doubts.hpp"

#include "sass/code.hpp"
#include "units/number_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace gputomo::predict {
namespace {

using launch::AccessKind;
using launch::BlockTrace;
using launch::TouchedLine;
using launch::WarpAccess;
using Doubt = std::optional<std::string>;

/// Instructions of the busiest SM over those of the busiest replayed SM, above which the replayed ones do not stand for
/// it. Launches are predicted with an error of about 10% anyway.
constexpr double kUneven = 1.15;
/// With at most as many warps, an SM has no work while one of them waits. A load of at least as many lines waits for
/// one that is far slower than the mean. The slowest of 32 lines from DRAM takes 1.5 times the mean on an H200.
constexpr double kFewWarps = 8, kManyLines = 16, kSlowestLine = 1.5;
/// Bytes of executed code that caches of instructions near an SM hold on every GPU that was measured. Where a
/// description knows such a cache, its capacity counts instead. Straight-line code beyond it took an H200 twice as
/// long.
constexpr double kNearCode = 32 * 1024, kFarCode = 2;
/// Bytes of constants that are read with an index, over the capacity of the first cache of constants.
constexpr double kConstantMisses = 1;
/// Share of accesses that miss a TLB from which on the time changes by percents.
constexpr double kTlbMisses = 0.05;
/// The part of the predicted time that an H200 took for a launch whose SMs visit the same pages in different orders
/// (`latency/tlb_reach` of suites/own.json). Each was predicted to wait for pages and lines that others had brought.
constexpr double kBroughtByOthers = 0.7;
/// Share of lines of local memory among all lines, and how far off such launches were on an H200. The worst one is
/// `hostile/sine_one_lane` of suites/own.json.
constexpr double kLocalShare = 0.1, kLocalFactor = 1.2;
/// How far off launches were on an H200 whose stores go to lines that are on their way from DRAM.
constexpr double kFillingFactor = 2.1;
/// A resource that takes this share of the time may limit the launch.
constexpr double kNearLimit = 0.5;

template <class Visit>
void for_each_access(const launch::LaunchProfile& profile, const Visit& visit) {
    for (const auto& sm : profile.sms)
        for (const BlockTrace& block : sm)
            for (const WarpAccess& access : block.accesses)
                if (access.lines > 0) visit(block, access);
}

bool is_local(const TouchedLine& line) { return line.line >= launch::kLocalMemory / launch::kTouchedLineBytes; }

double bound_of(const PredictedLaunch& launch, std::string_view resource) {
    for (const LaunchBound& bound : launch.prediction.bounds)
        if (bound.resource == resource) return bound.cycles;
    return 0;
}

/// Breaks "block number i starts on SM i modulo the number of SMs". Blocks of one wave stay where they start. One of
/// the SMs that were not replayed may have the most to do.
Doubt uneven_sms(const PredictedLaunch& launch) {
    const auto& profile = launch.profile;
    if (launch.prediction.waves > 1 || !profile.blocks_of_sms.empty() || profile.sampled.size() != profile.blocks ||
        !profile.longest.empty())
        return {};
    std::unordered_map<std::uint64_t, double> of_sm;
    const auto sms = static_cast<std::uint64_t>(launch.rates.sms);
    for (const launch::BlockCounts& block : profile.sampled) of_sm[block.block % sms] += block.instructions;
    double most = 0, replayed = 0;
    for (const auto& [sm, instructions] : of_sm) most = std::max(most, instructions);
    for (const auto& blocks : profile.sms) replayed = std::max(replayed, of_sm[blocks.front().block % sms]);
    if (replayed == 0 || most <= kUneven * replayed) return {};
    return fmt::format(
        "blocks differ in length: an SM that was not replayed executes {:.2f} times the instructions of "
        "those that were, and the launch may take that much longer",
        most / replayed);
}

/// Breaks "each line takes the mean latency", which a prediction assumes without a range of latencies over lines and
/// without refreshes.
Doubt slowest_line(const PredictedLaunch& launch) {
    if (launch.rates.memory_line_range > 0 || launch.rates.refresh.interval > 0) return {};
    double lines = 0, loads = 0;
    for_each_access(launch.profile, [&](const BlockTrace&, const WarpAccess& access) {
        if (access.kind != AccessKind::load) return;
        lines += access.lines;
        ++loads;
    });
    if (loads == 0 || lines < kManyLines * loads || launch.prediction.resident_warps > kFewWarps) return {};
    return fmt::format(
        "an SM has {:.0f} warps, whose loads wait for {:.0f} lines each. The slowest line takes up to {} "
        "times the mean latency that is described, and the launch may take that much longer",
        launch.prediction.resident_warps, lines / loads, kSlowestLine);
}

/// Breaks "instructions are always there", which a prediction assumes without a path of instructions.
Doubt far_code(const PredictedLaunch& launch) {
    if (!launch.rates.code.caches.empty()) return {};
    double bytes = 0;
    for (std::size_t i = 0; i < launch.profile.executed.size(); ++i)
        if (launch.profile.executed[i] > 0) bytes += sass::kInstructionBytes;
    double near = kNearCode;
    if (const auto cache = launch.machine.caches.find("instruction_l2");
        cache != launch.machine.caches.end() && cache->second.capacity)
        near = static_cast<double>(*cache->second.capacity);
    if (bytes <= near) return {};
    return fmt::format(
        "{:.0f} KiB of code are executed, and caches near an SM hold about {:.0f}: fetching instructions "
        "may make the launch up to {} times as long",
        bytes / 1024, near / 1024, kFarCode);
}

/// Breaks "constants are in the first cache".
Doubt far_constants(const PredictedLaunch& launch) {
    const auto cache = launch.machine.caches.find("constant_l1");
    if (cache == launch.machine.caches.end() || !cache->second.capacity) return {};
    const auto capacity = static_cast<double>(*cache->second.capacity);
    if (launch.profile.constant_bytes <= kConstantMisses * capacity) return {};
    const auto next = launch.machine.caches.find("constant_l2");
    const double factor = next != launch.machine.caches.end() && next->second.latency && cache->second.latency
                              ? static_cast<double>(*next->second.latency) / static_cast<double>(*cache->second.latency)
                              : 0;
    return fmt::format(
        "{:.0f} bytes of constants are read with an index, and the first cache holds {:.0f}: these loads "
        "miss{}",
        launch.profile.constant_bytes, capacity,
        factor > 1 ? fmt::format(", and take up to {:.1f} times as long", factor) : "");
}

/// The share of accesses whose page is not among the most recent `entries` pages of `span` bytes any more. The first
/// access to a page misses in every launch, and does not count.
double tlb_misses(const std::vector<BlockTrace>& blocks, std::uint64_t span, std::size_t entries) {
    std::list<std::uint64_t> recent;
    NumberSet seen;
    double misses = 0, accesses = 0;
    for (const BlockTrace& block : blocks)
        for (const WarpAccess& access : block.accesses) {
            if (access.lines > 0) ++accesses;
            bool missed = false;
            for (std::size_t i = access.first; i < std::size_t{access.first} + access.lines; ++i) {
                if (is_local(block.lines[i])) continue;
                const std::uint64_t page = block.lines[i].line * launch::kTouchedLineBytes / span;
                if (const auto found = std::ranges::find(recent, page); found != recent.end()) {
                    recent.splice(recent.begin(), recent, found);
                    continue;
                }
                missed = missed || !seen.insert(page);
                recent.push_front(page);
                if (recent.size() > entries) recent.pop_back();
            }
            if (missed) ++misses;
        }
    return accesses > 0 ? misses / accesses : 0;
}

/// Breaks "addresses are translated at once".
Doubt beyond_tlb(const PredictedLaunch& launch) {
    const auto& machine = launch.machine;
    const auto path = machine.paths.find("global");
    if (path == machine.paths.end() || launch.profile.sms.empty()) return {};
    double penalty = 0;
    const machine::Tlb* first = nullptr;
    for (const auto& name : path->second.tlbs.value_or({})) {
        const auto tlb = machine.tlbs.find(name);
        if (tlb == machine.tlbs.end()) continue;
        if (first == nullptr) first = &tlb->second;
        penalty += static_cast<double>(tlb->second.miss_penalty.value_or(0));
    }
    if (first == nullptr || !first->reach || !first->span) return {};
    const auto entries = static_cast<std::size_t>(*first->reach / *first->span);
    const double misses = tlb_misses(launch.profile.sms.front(), static_cast<std::uint64_t>(*first->span), entries);
    if (misses < kTlbMisses || launch.rates.memory_latency <= 0) return {};
    return fmt::format(
        "{:.0f}% of the accesses touch pages beyond the reach of an SM's TLB. Where other SMs have brought the pages "
        "and "
        "lines before, the launch may take {} of the predicted time. Misses for want of entries are not predicted, and "
        "may make it take up to {:.1f} times as long",
        100 * misses, kBroughtByOthers, 1 + misses * penalty / launch.rates.memory_latency);
}

/// Spilled registers and arrays of threads.
Doubt local_memory(const PredictedLaunch& launch) {
    double local = 0, all = 0;
    for_each_access(launch.profile, [&](const BlockTrace& block, const WarpAccess& access) {
        all += access.lines;
        for (std::size_t i = 0; i < access.lines; ++i)
            if (is_local(block.lines[access.first + i])) ++local;
    });
    if (all == 0 || local < kLocalShare * all) return {};
    return fmt::format(
        "{:.0f}% of the lines that warps access are local memory (spilled registers, arrays of threads, calls), "
        "for which no scan timed an access: the prediction may be up to {} times off",
        100 * local / all, kLocalFactor);
}

Doubt partial_writes(const PredictedLaunch& launch) {
    double partial = 0, stored = 0;
    for_each_access(launch.profile, [&](const BlockTrace& block, const WarpAccess& access) {
        if (access.kind != AccessKind::store) return;
        for (std::size_t i = 0; i < access.lines; ++i) {
            if (is_local(block.lines[access.first + i])) continue;
            ++stored;
            if (block.lines[access.first + i].partial) ++partial;
        }
    });
    if (stored == 0 || partial < kPartialShare * stored) return {};
    if (bound_of(launch, kL2Stores) < kNearLimit * launch.prediction.cycles) return {};
    return fmt::format(
        "{:.0f}% of the stored lines have sectors that are written in part. How many of them leave an SM together "
        "depends on the order of its warps: the prediction may be up to {} times off",
        100 * partial / stored, kPartialFactor);
}

/// Breaks "an SM's own requests show what those of all SMs wait for". How often stores block a part of the L2 depends
/// on the order in which requests of all SMs reach it.
Doubt filling_stores(const PredictedLaunch& launch) {
    const double blocked = bound_of(launch, kFilling);
    if (blocked < kFillingShare * launch.prediction.cycles) return {};
    return fmt::format(
        "stores go to lines that are still being fetched from memory, and hold up the L2 for {:.0f}% of the time: the "
        "prediction may be up to {} times too fast. `gputomo simulate` knows the order in which requests arrive",
        100 * blocked / launch.prediction.cycles, kFillingFactor);
}

/// Breaks "the bandwidth of loads applies".
Doubt assumed_bandwidth(const PredictedLaunch& launch) {
    if (launch.rates.assumptions.empty()) return {};
    const double most = std::max(bound_of(launch, kL2Stores), bound_of(launch, kL2Atomics));
    if (most < kNearLimit * launch.prediction.cycles) return {};
    return fmt::format(
        "stores or atomics of the L2 take {:.0f}% of the time, and the description lacks their bandwidth",
        100 * most / launch.prediction.cycles);
}

}  // namespace

std::vector<std::string> doubts_of(const PredictedLaunch& launch) {
    std::vector<std::string> doubts;
    for (const auto doubt : {uneven_sms, slowest_line, far_code, far_constants, beyond_tlb, local_memory,
                             partial_writes, filling_stores, assumed_bandwidth})
        if (auto found = doubt(launch)) doubts.push_back(*std::move(found));
    return doubts;
}

}  // namespace gputomo::predict
