#include "validate/outstanding_machine.hpp"

#include "units/warp.hpp"
#include "validate/dice.hpp"
#include "validate/random_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gputomo::validate {
namespace {

using machine::Machine;

constexpr std::int64_t kLine = 128;
constexpr std::int64_t kThreads = 1024;
constexpr std::int64_t kWarps = kThreads / kWarpSize;
/// Entries of the tables that are drawn. Lashgar 2015 finds 44 to 128; the range goes beyond on both sides.
constexpr std::int64_t kFewestEntries = 16, kMostEntries = 512;
/// The most loads of a warp that are drawn.
constexpr std::int64_t kMostLoads = 63;
/// The loads that fill a table or the limit of a warp can be issued within this share of the latency of a load. With a
/// larger share the first load returns before the limit is reached, and no measurement can see it.
constexpr double kTimeToFill = 0.5;
/// A table of lines has at most as many entries as an SM requests lines, one a cycle, within this share of a latency.
constexpr double kLatencyToFill = 0.9;
/// Entries that differ by at most this share count as exact.
constexpr double kEntriesTolerance = 0.05;

const machine::Provenance kDrawn{.source = "random machine with a table of outstanding loads"};

machine::Cache cache(std::string scope, std::int64_t ways, std::int64_t sets, std::int64_t latency) {
    machine::Cache made;
    made.scope.set(std::move(scope), kDrawn);
    made.line.set(kLine, kDrawn);
    made.sector.set(kLine, kDrawn);
    made.ways.set(ways, kDrawn);
    made.sets.set(sets, kDrawn);
    made.capacity.set(kLine * ways * sets, kDrawn);
    made.index.set("modulo", kDrawn);
    made.policy.set("lru", kDrawn);
    made.latency.set(latency, kDrawn);
    return made;
}

/// Describes the table of a cache or a path.
template <class Part>
void set_table(Part& part, bool lines, std::int64_t entries, std::int64_t merge) {
    part.outstanding_design.set(lines ? "mshr" : "prt", kDrawn);
    part.outstanding_entries.set(entries, kDrawn);
    if (lines) part.outstanding_merge.set(merge, kDrawn);
}

/// The leaves of a table, which a cache or a path may describe.
struct TableLeaves {
    machine::Text design;
    machine::Integer entries;
    machine::Integer merge;
};

template <class Part>
TableLeaves leaves_of(const Part& part) {
    return {part.outstanding_design, part.outstanding_entries, part.outstanding_merge};
}

TableLeaves table_of(const Machine& machine, bool of_cache) {
    if (of_cache) return machine.caches.contains("l1") ? leaves_of(machine.caches.at("l1")) : TableLeaves{};
    return machine.paths.contains("global") ? leaves_of(machine.paths.at("global")) : TableLeaves{};
}

template <class T>
std::string text_of(const machine::Field<T>& field) {
    switch (field.knowledge) {
        case machine::Knowledge::known: return fmt::format("{}", field.value);
        case machine::Knowledge::absent: return "absent";
        case machine::Knowledge::undecided: return "undecided";
        case machine::Knowledge::unknown: break;
    }
    return "nothing";
}

template <class T>
Comparison compared(const std::string& path, const machine::Field<T>& truth, const machine::Field<T>& scanned,
                    double tolerance) {
    Comparison comparison{.path = path,
                          .parameter = path,
                          .verdict = Verdict::missing,
                          .truth = text_of(truth),
                          .scanned = text_of(scanned)};
    if (scanned.knowledge == machine::Knowledge::undecided) comparison.verdict = Verdict::undecided;
    if (scanned.knowledge == machine::Knowledge::absent)
        comparison.verdict = truth.known() ? Verdict::wrong : Verdict::exact;
    if (!scanned.known()) return comparison;
    bool same = truth.known() && truth.value == scanned.value;
    if constexpr (std::is_arithmetic_v<T>)
        same = same || (truth.known() && std::abs(static_cast<double>(scanned.value - truth.value)) <=
                                             tolerance * static_cast<double>(truth.value));
    comparison.verdict = same ? Verdict::exact : Verdict::wrong;
    return comparison;
}

}  // namespace

Machine random_outstanding_machine(std::uint64_t seed) {
    Machine made = random_machine(seed);
    Dice dice(seed);
    made.identity.compute_capability_major.set(7, kDrawn);
    made.identity.compute_capability_minor.set(0, kDrawn);
    auto& topology = made.topology;
    topology.max_threads_per_block.set(kThreads, kDrawn);
    topology.max_threads_per_sm.set(std::max<std::int64_t>(kThreads, topology.max_threads_per_sm.value_or(kThreads)),
                                    kDrawn);
    topology.registers_per_sm.set(std::int64_t{64} << 10, kDrawn);
    topology.max_registers_per_thread.set(255, kDrawn);

    const bool of_cache = dice.between(0, 1) == 0;
    const std::int64_t latency = dice.between(200, 600);
    auto& path = made.paths["global"];
    made.caches.clear();
    made.tlbs.clear();
    made.paths.erase("instruction");
    made.instruction_supply = {};
    for (const char* other : {"constant", "texture"}) {
        made.paths[other] = {};
        made.paths[other].caches.set({}, kDrawn);
        made.paths[other].memory_latency.set(latency, kDrawn);
    }
    path.tlbs.set({}, kDrawn);
    made.caches["l2"] = cache("gpu", 16, std::int64_t{512} << dice.between(0, 2), latency);
    if (of_cache) made.caches["l1"] = cache("sm", 4, std::int64_t{32} << dice.between(0, 2), dice.between(20, 80));
    path.caches.set(of_cache ? std::vector<std::string>{"l1", "l2"} : std::vector<std::string>{"l2"}, kDrawn);
    path.memory_latency.set(latency + dice.between(50, 300), kDrawn);
    path.memory_latency_range = {};
    path.tlb_position.set("before-caches", kDrawn);

    // A warp issues a load every `gap` cycles, and the SM one every `issue` cycles. A limit that takes longer to reach
    // than a load takes to return is never reached.
    const double gap = std::max(*made.issue.issue_interval, static_cast<double>(made.issue.ilp_latency.value_or(1)));
    const double issue = *made.issue.issue_interval / static_cast<double>(*made.issue.schedulers_per_sm);
    const double time = kTimeToFill * static_cast<double>(latency);
    const auto most_loads =
        dice.logarithmic(2, std::clamp(static_cast<std::int64_t>(time / gap), std::int64_t{2}, kMostLoads));
    const bool lines = dice.between(0, 1) == 0;
    // A table of instructions fills up with loads of one line each. A table of lines fills up with loads of up to 32
    // lines, which leave the SM one a cycle.
    const auto reachable =
        static_cast<std::int64_t>(std::min(0.8 * static_cast<double>(kWarps * most_loads), time / issue));
    const auto most =
        std::clamp(lines ? static_cast<std::int64_t>(kLatencyToFill * static_cast<double>(latency)) : reachable,
                   kFewestEntries, kMostEntries);
    const auto entries = dice.logarithmic(kFewestEntries, most);
    const auto merge = dice.logarithmic(1, 32);
    // A warp never has more loads outstanding than the table has entries.
    made.issue.scoreboard_loads.set(std::min(most_loads, entries), kDrawn);
    if (of_cache)
        set_table(made.caches["l1"], lines, entries, merge);
    else
        set_table(path, lines, entries, merge);
    return made;
}

std::vector<Comparison> compare_outstanding(const Machine& truth, const Machine& scanned) {
    const bool of_cache = truth.caches.contains("l1");
    const TableLeaves is = table_of(truth, of_cache);
    const TableLeaves found = table_of(scanned, of_cache);
    const std::string place = of_cache ? "caches.l1" : "paths.global";
    std::vector<Comparison> comparisons{
        compared("issue.scoreboard_loads", truth.issue.scoreboard_loads, scanned.issue.scoreboard_loads, 0),
        compared(place + ".outstanding_design", is.design, found.design, 0),
        compared(place + ".outstanding_entries", is.entries, found.entries, kEntriesTolerance)};
    if (is.merge || found.merge)
        comparisons.push_back(compared(place + ".outstanding_merge", is.merge, found.merge, 0));
    return comparisons;
}

}  // namespace gputomo::validate
