#include "report/findings/known_charts.hpp"

#include "report/findings/curve.hpp"
#include "report/parts/storages.hpp"
#include "report/plot/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace gputomo::report {
namespace {

using machine::Unit;
using enum Mark::Axis;

std::string of_cache(std::string_view key, std::string_view leaf) { return fmt::format("caches.{}.{}", key, leaf); }

/// A cache whose path the title already names: "L1" of "constant_l1".
std::string level_name(std::string_view path, std::string_view key) {
    const bool own = key.starts_with(path) && key.size() > path.size() && key[path.size()] == '_';
    return shown_name(own ? key.substr(path.size() + 1) : key);
}

std::vector<std::string> caches_on(const Facts& facts, const std::string& path) {
    if (const auto* leaf = facts.find(fmt::format("paths.{}.caches", path)))
        if (const auto* names = std::get_if<std::vector<std::string>>(&leaf->leaf.value)) return *names;
    std::vector<std::string> caches;
    for (int level = 1; facts.find(of_cache(fmt::format("{}_l{}", path, level), "latency")) != nullptr; ++level)
        caches.push_back(fmt::format("{}_l{}", path, level));
    return caches;
}

/// The value of a leaf, or the middle of its interval.
std::optional<double> about(const Facts& facts, const std::string& path) {
    if (const auto number = facts.number(path)) return number;
    const auto* leaf = facts.find(path);
    if (leaf == nullptr || !leaf->leaf.provenance.interval) return std::nullopt;
    const auto& interval = *leaf->leaf.provenance.interval;
    return (interval[0] + interval[1]) / 2;
}

/// "L1: 32 cycles up to 233 KiB; L2: 280 cycles up to 27.6 MiB; memory: 695 cycles", with a line at each capacity.
Finding levels(const Chart& c, const std::string& path) {
    Finding found;
    const Curve curve(c.trace, c.trace.plot.x, c.trace.plot.y.front());
    if (curve.empty()) return found;
    const double smallest = curve.first().first, largest = curve.last().first;
    bool beyond = false;
    const auto add = [&](const std::string& text) { found.title += (found.title.empty() ? "" : "; ") + text; };
    for (const auto& key : caches_on(c.facts, path)) {
        const auto latency = of_cache(key, "latency"), capacity = of_cache(key, "capacity");
        const auto name = level_name(path, key), size = c.facts.text(capacity);
        const auto at = about(c.facts, capacity);
        if (at && *at < smallest) continue;
        const auto cycles = c.facts.number(latency) == 0.0 ? "latency hidden" : c.facts.text(latency);
        const bool inside = at && *at <= largest;
        if (!cycles.empty())
            add(fmt::format("{}: {}{}", name, cycles == "undecided" ? "latency undecided" : cycles,
                            inside ? " up to " + size : ""));
        if (inside) found.marks.push_back({x, *at, fmt::format("{} {}", name, size)});
        beyond = !inside;
        if (beyond) break;
    }
    const auto memory = c.facts.text(fmt::format("paths.{}.memory_latency", path));
    if (!beyond && !memory.empty() && memory != "undecided") add("memory: " + memory);
    return found;
}
Finding global_levels(const Chart& c) { return levels(c, "global"); }

Finding path_levels(const Chart& c) {
    const auto experiment = c.trace.experiment;
    return levels(c, experiment.substr(0, experiment.find('_')));
}

/// The levels, with further lines at their latencies.
Finding single_loads(const Chart& c) {
    auto found = global_levels(c);
    for (const auto& key : caches_on(c.facts, "global"))
        if (const auto latency = c.facts.number(of_cache(key, "latency")))
            found.marks.push_back({y, *latency, fmt::format("{} {:.0f} cycles", shown_name(key), *latency)});
    if (const auto latency = c.facts.number("paths.global.memory_latency"))
        found.marks.push_back({y, *latency, fmt::format("memory {:.0f} cycles", *latency)});
    return found;
}

Finding overfill(const Chart& c) {
    const Curve misses(c.trace, "size", "misses");
    if (misses.empty()) return {};
    constexpr double kAny = 1, kHalf = 50;  // percent
    const auto half = misses.reaches(kHalf), some = misses.last_below(kAny);
    const auto name = shown_name(c.key);
    if (!half)
        return {.title =
                    fmt::format("{} still serves most loads of {}", name, amount(misses.last().first, misses.x()))};
    Finding found{.title = fmt::format("{}: half of the loads miss at {}{}", name, amount(*half, misses.x()),
                                       some ? ", none at " + amount(*some, misses.x()) : ""),
                  .marks = {{x, *half, fmt::format("half miss: {}", amount(*half, misses.x()))}}};
    if (const auto all = bytes_in_all(c.trace)) {
        found.title += fmt::format("; another partition serves misses up to {}", amount((*all)[0], misses.x()));
        found.marks.push_back({x, (*all)[0], fmt::format("in all: {}", amount((*all)[0], misses.x()))});
    }
    return found;
}

Finding memory_by_sm(const Chart& c) {
    const Curve curve(c.trace, "sm", "latency");
    if (curve.empty()) return {};
    return {.title = fmt::format("Memory answers the SMs after {:.0f} to {:.0f} cycles, {:.0f} in the mean",
                                 curve.lowest().second, curve.highest().second, curve.mean()),
            .marks = {{y, curve.mean(), fmt::format("mean {:.0f} cycles", curve.mean())}}};
}

Finding levels_by_sm(const Chart& c) {
    Finding found;
    for (const double level : values_of(c.trace, "level")) {
        const Curve curve(c.trace, "sm", "latency", "level", level);
        if (curve.empty()) continue;
        const double low = curve.lowest().second, high = curve.highest().second;
        found.title += fmt::format("{}level {:g}: {}", found.title.empty() ? "From the SMs, " : "; ", level,
                                   low == high ? fmt::format("{:.0f} cycles from each", low)
                                               : fmt::format("{:.0f} to {:.0f} cycles", low, high));
    }
    return found;
}

Finding miss_map(const Chart& c) {
    const auto* latency = c.trace.column("latency");
    if (latency == nullptr || latency->values.empty()) return {};
    const auto [low, high] = std::ranges::minmax(latency->values);
    const double border = (low + high) / 2;
    const auto missed = std::ranges::count_if(latency->values, [&](double cycles) { return cycles > border; });
    return {.title = fmt::format("{:.0f}% of these loads are slow: they lie in the sets of {} that the array overfills",
                                 100 * static_cast<double>(missed) / static_cast<double>(latency->values.size()),
                                 shown_name(c.key))};
}

/// The highest rate of all curves, and from where on each is near it.
Finding peak(const Chart& c, const std::string& subject) {
    Finding found;
    double top = 0;
    std::vector<std::pair<std::string, Curve>> curves;
    for (const auto& name : c.trace.plot.y) {
        if (name == "little") continue;
        Curve curve(c.trace, c.trace.plot.x, name);
        if (curve.empty()) continue;
        top = std::max(top, curve.highest().second);
        curves.emplace_back(in_words(name), std::move(curve));
    }
    if (curves.empty()) return found;
    const auto& unit = curves.front().second.y();
    found.title = fmt::format("{}: {}", subject, amount(top, unit));
    for (const auto& [name, curve] : curves) {
        const auto from = curve.sample_from(kNearlyAll * top);
        if (!from) continue;
        const auto place = amount(*from, curve.x());
        found.title +=
            fmt::format("{} {} {}{}", found.title.find("90%") == std::string::npos ? "; 90% from" : ", from", place,
                        curve.x().unit.empty() || shown_unit(curve.x()).empty() ? in_words(curve.x().name) : "",
                        curves.size() > 1 ? fmt::format(" ({})", name) : "");
        found.marks.push_back({x, *from, fmt::format("90%{}: {}", curves.size() > 1 ? " " + name : "", place)});
    }
    found.marks.push_back({y, top, amount(top, unit)});
    return found;
}

Finding operation_rate(const Chart& c) {
    Finding found;
    const auto rate = c.facts.number(fmt::format("operations[{}].throughput", c.key));
    double top = rate.value_or(0);
    std::string from;
    for (const auto& [name, words] : {std::pair("ilp1", "one chain"), std::pair("ilp4", "four chains")}) {
        if (c.trace.column(name) == nullptr) continue;
        const Curve curve(c.trace, "warps", name);
        if (curve.empty()) continue;
        if (!rate) top = std::max(top, curve.highest().second);
        if (const auto warps = curve.sample_from(kNearlyAll * top)) {
            from += fmt::format("{} {:.0f} warps with {}", from.empty() ? "; 90% of it from" : ", from", *warps, words);
            found.marks.push_back({x, *warps, fmt::format("{:.0f} warps, {}", *warps, words)});
        }
    }
    if (top <= 0) return {};
    found.title = fmt::format("{}: {:.4g} operations per cycle and SM{}", c.key, top, from);
    found.marks.push_back({y, top, fmt::format("{:.4g} per cycle", top)});
    return found;
}

Finding one_warp(const Chart& c) {
    const Curve curve(c.trace, "chains", "cycles");
    if (curve.empty()) return {};
    const auto low = curve.lowest();
    return {.title = fmt::format("One warp issues an instruction every {:.3g} cycles with one chain of dependent adds, "
                                 "every {:.3g} from {:.0f} chains on",
                                 curve.first().second, low.second, low.first),
            .marks = {{y, low.second, fmt::format("{:.3g} cycles", low.second)}}};
}

Finding schedulers(const Chart& c) {
    const auto count = c.facts.number("issue.schedulers_per_sm");
    if (!count) return {};
    if (*count <= 1) return {.title = "One scheduler: each further warp takes its turn"};
    return {.title = fmt::format("The time rises at every {:.0f}th warp: {:.0f} schedulers", *count, *count),
            .marks = {{x, *count, fmt::format("{:.0f} schedulers", *count)}}};
}

Finding issue_slots(const Chart& c) {
    const auto leaf = c.key == "shared"   ? std::string("shared.issue_slots")
                      : c.key == "global" ? std::string("paths.global.issue_slots")
                                          : fmt::format("pipelines.{}.issue_slots", c.key);
    const auto slots = c.facts.number(leaf);
    if (!slots) return {};
    return {.title = fmt::format("One instruction for {} takes {:.3g} issue slots where registers share a bank", c.key,
                                 *slots)};
}

Finding warpgroup_products(const Chart& c) {
    const Curve curve(c.trace, "columns", "interval");
    if (curve.empty()) return {};
    const auto [columns, cycles] = curve.last();
    const std::string_view kind = c.trace.name.ends_with("sparse") ? "Sparse products" : "Products";
    return {.title = fmt::format("{} of {:.0f} columns follow each other every {:.4g} cycles", kind, columns, cycles),
            .what = "Cycles from one product of a warp group to the next",
            .marks = {{y, cycles, fmt::format("{:.4g} cycles", cycles)}}};
}

Finding bank_conflicts(const Chart& c) {
    const Curve curve(c.trace, "stride", "latency");
    if (curve.empty()) return {};
    const auto worst = curve.highest();
    const auto banks = c.facts.number("shared.banks");
    return {.title = fmt::format("{:.0f} cycles without conflicts, {:.0f} at a stride of {:.0f} words{}",
                                 curve.lowest().second, worst.second, worst.first,
                                 banks ? fmt::format(": {:.0f} banks", *banks) : ""),
            .marks = {{x, worst.first, fmt::format("stride {:.0f}", worst.first)}}};
}

Finding shared_rate(const Chart& c) {
    double top = 0;
    std::string from;
    for (const double width : values_of(c.trace, "width"))
        if (const Curve curve(c.trace, "threads", "rate", "width", width); !curve.empty())
            top = std::max(top, curve.highest().second);
    for (const double width : values_of(c.trace, "width"))
        if (const auto threads = Curve(c.trace, "threads", "rate", "width", width).sample_from(kNearlyAll * top))
            from += fmt::format("{} {:.0f} threads with {:g}-byte loads", from.empty() ? "; 90% from" : ", from",
                                *threads, width);
    if (top <= 0) return {};
    return {.title = fmt::format("Shared memory: {:.4g} bytes per cycle{}", top, from),
            .marks = {{y, top, fmt::format("{:.4g} bytes/cycle", top)}}};
}

/// A number of each curve, listed by name: "An SM loads: near every 2 cycles, far every 8 cycles".
template <class Number>
Finding of_each(const Chart& c, std::string_view column, std::string_view at, std::string_view measured,
                std::string_view before, const Number& number) {
    Finding found;
    const auto* names = c.trace.column(column);
    for (const double value : values_of(c.trace, column)) {
        const Curve curve(c.trace, at, measured, column, value);
        if (curve.empty()) continue;
        found.title +=
            fmt::format("{}{} {}", found.title.empty() ? before : ", ", name_of_value(*names, value), number(curve));
    }
    return found;
}

Finding load_intervals(const Chart& c) {
    return of_each(c, "path", "warps", "interval", "An SM loads: ", [](const Curve& curve) {
        return fmt::format("every {:.3g} cycles", curve.lowest().second);
    });
}

Finding neighbours(const Chart& c) {
    double farthest = 0;
    for (const auto* side : {"inside", "outside"}) {
        if (c.trace.column(side) == nullptr) continue;
        const auto *at = c.trace.column("distance"), *share = c.trace.column(side);
        if (at == nullptr) continue;
        for (std::size_t i = 0; i < std::min(at->values.size(), share->values.size()); ++i)
            if (share->values[i] > 0.5) farthest = std::max(farthest, at->values[i]);
    }
    const auto name = shown_name(c.key);
    if (farthest <= 0) return {.title = fmt::format("{}: a miss brings no other code along", name)};
    const auto reach = number_text(farthest, Unit::bytes);
    return {.title = fmt::format("{}: a miss brings the next {} of code along", name, reach),
            .marks = {{x, farthest, reach}}};
}

Finding translation(const Chart& c) {
    Finding found;
    for (int level = 1; level <= 3; ++level) {
        const auto tlb = fmt::format("tlbs.global_l{}.", level);
        const auto reach = about(c.facts, tlb + "reach");
        const auto size = c.facts.text(tlb + "reach"), penalty = c.facts.text(tlb + "miss_penalty");
        if (!reach || penalty.empty()) break;
        found.title +=
            fmt::format("{}L{} TLB reaches {}, a miss adds {}", found.title.empty() ? "" : "; ", level, size, penalty);
        found.marks.push_back({x, *reach, fmt::format("L{} {}", level, size)});
    }
    return found;
}

Finding latency_map(const Chart& c) {
    const auto last = caches_on(c.facts, "global");
    if (last.empty()) return {};
    const auto partitions = c.facts.number(of_cache(last.back(), "partitions"));
    const auto far = c.facts.text(of_cache(last.back(), "far_latency"));
    if (!partitions || far.empty()) return {};
    return {.title = fmt::format("{} has {:.0f} partitions: half of the lines are far from an SM, {}",
                                 shown_name(last.back()), *partitions, far)};
}

Finding dram(const Chart& c) {
    const auto measured = c.facts.number(fmt::format("memory.{}_bandwidth", c.key)),
               pins = c.facts.number("memory.peak_bandwidth");
    if (!measured) return {};
    Finding found{.title = fmt::format("DRAM {}: {:.0f} GB/s", c.key == "read" ? "reads" : "copies", *measured)};
    if (pins && *pins > 0) found.title += fmt::format(", {:.0f}% of the pins", 100 * *measured / *pins);
    found.marks.push_back({y, *measured, fmt::format("{:.0f} GB/s", *measured)});
    return found;
}

Finding starts(const Chart& c) {
    const Curve curve(c.trace, "warps", "cycles");
    if (curve.empty()) return {};
    return {.title = fmt::format("An SM starts an empty block of {:.0f} warp every {:.0f} cycles, one of {:.0f} warps "
                                 "every {:.0f}",
                                 curve.first().first, curve.first().second, curve.last().first, curve.last().second)};
}

Finding divergence(const Chart& c) {
    const auto how = c.facts.text("issue.divergence"), back = c.facts.text("issue.reconvergence");
    if (how.empty()) return {};
    return {.title =
                fmt::format("Threads of a warp that part: {}{}", how == "independent" ? "scheduled independently" : how,
                            back.empty() ? "" : fmt::format(", together again at: {}", back))};
}

Finding path_cost(const Chart& c) {
    const Curve curve(c.trace, "paths", "cycles");
    if (curve.empty() || curve.last().first <= curve.first().first) return {};
    const double each = (curve.last().second - curve.first().second) / (curve.last().first - curve.first().first);
    return {.title = fmt::format("Each further path of a warp adds {:.0f} cycles: paths take turns", each)};
}

Finding split_cost(const Chart& c) {
    const auto each = c.facts.text("issue.divergence_latency");
    return each.empty() ? Finding{} : Finding{.title = fmt::format("Each if that splits the warp adds {}", each)};
}

Finding barrier(const Chart& c) {
    const Curve curve(c.trace, "warps", "latency");
    if (curve.empty()) return {};
    return {.title = fmt::format("A barrier takes {:.0f} cycles for {:.0f} warp and {:.0f} for {:.0f}",
                                 curve.first().second, curve.first().first, curve.last().second, curve.last().first)};
}

Finding largest_block(const Chart& c) {
    const Curve curve(c.trace, "registers", "threads");
    const auto all = c.facts.number("topology.registers_per_sm");
    if (curve.empty() || !all) return {};
    const double most = curve.highest().second;
    return {.title = fmt::format("{:.0f} registers of an SM: blocks of {:.0f} threads fit up to {:.0f} registers each",
                                 *all, most, std::floor(*all / most)),
            .marks = {{x, std::floor(*all / most), fmt::format("{:.0f} registers", std::floor(*all / most))}}};
}

Finding split(const Chart& c) {
    const Curve curve(c.trace, "shared", "lines");
    const auto cache = c.facts.text("shared.unified_cache");
    if (curve.empty() || cache.empty()) return {};
    return {.title = fmt::format("{} and shared memory are one storage: {:.0f} lines stay resident beside {} of shared "
                                 "memory, {:.0f} beside {}",
                                 shown_name(cache), curve.first().second, number_text(curve.first().first, Unit::bytes),
                                 curve.last().second, number_text(curve.last().first, Unit::bytes))};
}

Finding loads_of_warps(const Chart& c) {
    const auto from = c.key.find("memory_") == 0 ? "memory" : "the L2";
    const auto digits = c.key.find_first_of("0123456789");
    const int warps = digits == std::string::npos ? 1 : std::atoi(c.key.c_str() + digits);
    const Curve curve(c.trace, "loads", "complete");
    if (curve.empty()) return {};
    const auto who = warps == 1 ? std::string("one warp") : fmt::format("each of {} warps", warps);
    return {
        .title = fmt::format("{:.0f} loads of {} from {} are complete after {:.0f} cycles, a single one after {:.0f}",
                             curve.last().first, who, from, curve.last().second, curve.first().second),
        .what = fmt::format("Cycles until all loads of {} have their data, each load of one line", who)};
}

Finding predicted_loads(const Chart& c) {
    const auto *measured = c.trace.column("complete"), *described = c.trace.column("described");
    if (measured == nullptr || described == nullptr) return {};
    double sum = 0;
    int count = 0;
    for (std::size_t i = 0; i < measured->values.size(); ++i)
        if (measured->values[i] > 0 && std::isfinite(described->values[i]))
            sum += std::abs(described->values[i] / measured->values[i] - 1), ++count;
    if (count == 0) return {};
    return {.title = fmt::format("The best model of loads in flight is {:.1f}% off in the mean of {} launches",
                                 100 * sum / count, count)};
}

/// What follows the colon of a title like "Thread-latency plot: 2 load a thread, a line for each thread", with the
/// plural that titles of earlier versions lack.
std::string in_plural(const std::string& title) {
    const auto colon = title.find(": ");
    auto text = colon == std::string::npos ? title : title.substr(colon + 2);
    const auto number = text.find(' '), end = text.find(" a thread");
    if (number == std::string::npos || end == std::string::npos || end <= number) return text;
    auto kind = in_words(text.substr(number + 1, end - number - 1));
    if (const auto far = kind.find(" far"); far != std::string::npos) kind.replace(far, 4, " past the L1");
    if (text.substr(0, number) != "1" && kind.find('s') == std::string::npos)
        kind.insert(std::min(kind.find(' '), kind.size()), "s");
    return text.substr(0, number + 1) + kind + text.substr(end);
}

/// What the loads of a thread-latency plot have in common, by the end of its name.
Finding in_flight(const Chart& c) {
    static const std::map<std::string, std::string, std::less<>> kWhat{
        {"many", "32 loads a thread, a line for each warp"},
        {"many_far", "32 loads a thread past the L1, a line for each warp"},
        {"many_of_one_place", "32 loads a thread, all warps on the same lines"},
        {"many_half_the_lines", "32 loads a thread, a line for two warps"},
        {"many_sectors_of_lines", "32 loads a thread, a sector of a line for each warp"},
        {"many_far_apart", "32 loads a thread, lines far apart"},
        {"many_with_shared", "32 loads a thread, beside shared memory in use"},
        {"many_half_as_often", "16 loads a thread, a line for each warp"},
    };
    Finding found;
    const Curve curve(c.trace, "threads", "latency");
    if (curve.empty()) return found;
    found.title = fmt::format("{:.0f} cycles with {:.0f} threads, {:.0f} with {:.0f}", curve.first().second,
                              curve.first().first, curve.last().second, curve.last().first);
    const auto known = kWhat.find(c.key);
    const auto what = known != kWhat.end() ? known->second : in_plural(c.trace.plot.title);
    found.what = "Latency against threads: " + what;
    found.title = fmt::format("{}: {}", what, found.title);
    return found;
}

Finding thread_latency(const Chart& c) {
    double low = 0, high = 0;
    const auto* latency = c.trace.column("latency");
    if (latency == nullptr || latency->values.empty()) return {};
    low = std::ranges::min(latency->values), high = std::ranges::max(latency->values);
    return {.title = fmt::format("All loads are complete after {:.0f} to {:.0f} cycles, by their number", low, high)};
}

Finding parallelism(const Chart& c) {
    struct Part {
        std::string_view key, words;
    };
    constexpr std::array<Part, 4> kKinds{
        {{"_load_", "Loads"}, {"_store_", "Stores"}, {"_atomic_", "Atomics"}, {"_async_", "Asynchronous copies"}}};
    std::string_view kind = "Accesses";
    for (const auto& [key, words] : kKinds)
        if (c.key.find(key) != std::string::npos) kind = words;
    const auto from =
        c.key.starts_with("memory_") ? std::string("memory") : "the " + shown_name(c.key.substr(0, c.key.find('_')));
    const auto subject =
        fmt::format("{} {} {}, {}", kind, kind == "Loads" || kind == "Asynchronous copies" ? "from" : "to", from,
                    c.key.ends_with("one_sm") ? "one SM alone" : "each of all SMs");
    auto found = peak(c, subject);
    found.what =
        "Bytes per cycle and SM against bytes in flight of an SM; little: the latency of few loads, by "
        "Little's law";
    return found;
}

Finding random_size(const Chart& c) {
    const Curve curve(c.trace, "bytes", "rate");
    if (curve.empty()) return {};
    return {.title = fmt::format("Random words of an SM: {:.3g} a cycle of {}, {:.3g} of {}", curve.first().second,
                                 number_text(curve.first().first, Unit::bytes), curve.last().second,
                                 number_text(curve.last().first, Unit::bytes)),
            .what = "Loads of random words per cycle and SM against the size of the array"};
}

Finding random_occupancy(const Chart& c) { return peak(c, "Random words from memory"); }

Finding write_delay(const Chart& c) {
    const Curve read(c.trace, "warps", "read"), copy(c.trace, "warps", "copy");
    if (read.empty() || copy.empty()) return {};
    return {.title = fmt::format("With {:g} warps of an SM, copying takes {:.0f} cycles, reading alone {:.0f}",
                                 copy.last().first, copy.last().second, read.last().second)};
}

Finding pauses(const Chart& c) {
    const auto interval = c.facts.text("memory.pause_interval"), time = c.facts.text("memory.pause_time");
    if (!c.facts.number("memory.pause_interval") || time.empty()) return {};
    return {.title = fmt::format("Memory pauses for {} every {}", time, interval)};
}

Finding operand_banks(const Chart& c) {
    const auto banks = c.facts.number("topology.operand_banks");
    if (!banks) return {};
    return {.title = fmt::format("Registers lie in {:.0f} banks: three operands in one bank take longer", *banks)};
}

Finding cold_code(const Chart& c) {
    const Curve curve(c.trace, "offset", "cycles");
    if (curve.empty()) return {};
    const auto from = c.key == "memory" ? std::string("memory") : c.key;
    return {.title = fmt::format("Code from {} lets a warp wait up to {:.0f} cycles", from, curve.highest().second),
            .marks = {{y, curve.highest().second, fmt::format("{:.0f} cycles", curve.highest().second)}}};
}

Finding fetch_steps(const Chart& c) {
    const auto block = c.facts.text("instruction_supply.fetch_block");
    if (!block.empty()) return {.title = fmt::format("Code is fetched in blocks of {}", block)};
    return {.title = "Waits for code do not lie at regular distances: no fetch block shows"};
}

Finding contention(const Chart& c) {
    return of_each(c, "kind", "bytes", "cycles", "Cycles of a warp's atomics on one address: ", [](const Curve& curve) {
        return fmt::format("{:.3g}", curve.first().second);
    });
}

constexpr KnownChart kCharts[] = {
    {"caches/near", global_levels},
    {"caches/far", global_levels},
    {"caches/near_latencies", single_loads},
    {"caches/far_latencies", single_loads},
    {"caches/*_overfill", overfill},
    {"caches/memory_by_sm", memory_by_sm},
    {"caches/*_trace", miss_map},
    {"texture_caches/*_trace", miss_map},
    {"constant_caches/*_trace", miss_map},
    {"constant_caches/levels", path_levels},
    {"texture_caches/levels", path_levels},
    {"instruction_caches/levels", path_levels},
    {"*/by_sm", levels_by_sm},
    {"arithmetic_throughput/*", operation_rate},
    {"issue/one_warp", one_warp},
    {"issue/warps", schedulers},
    {"issue_cost/*", issue_slots},
    {"warpgroup_products/products", warpgroup_products},
    {"warpgroup_products/sparse", warpgroup_products},
    {"shared_latency/strides", bank_conflicts},
    {"shared_throughput/warps", shared_rate},
    {"load_intervals/warps", load_intervals},
    {"instruction_caches/neighbours_*", neighbours},
    {"cold_code/from_*", cold_code},
    {"fetch_block/*", fetch_steps},
    {"operand_banks/loops", operand_banks},
    {"tlb/levels", translation},
    {"tlb/sparse_levels", translation},
    {"latency_map/map", latency_map},
    {"dram_bandwidth/*", dram},
    {"launch/starts", starts},
    {"control_flow/timeline", divergence},
    {"control_flow/cost", path_cost},
    {"control_flow/depth", split_cost},
    {"barriers/latency", barrier},
    {"register_file/largest_block", largest_block},
    {"shared_split/lines", split},
    {"outstanding/*_warps", loads_of_warps},
    {"outstanding/surface", predicted_loads},
    {"outstanding/thread_latency", thread_latency},
    {"outstanding/*", in_flight},
    {"memory_parallelism/*", parallelism},
    {"atomic_contention/cycles", contention},
    {"random_access/size", random_size},
    {"random_access/occupancy*", random_occupancy},
    {"write_delay/occupancy", write_delay},
    {"memory_pauses/*", pauses},
};

}  // namespace

std::span<const KnownChart> known_charts() { return kCharts; }

}  // namespace gputomo::report
