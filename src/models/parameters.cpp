#include "models/parameters.hpp"

#include "costs/whole_warp.hpp"
#include "machine/cache_scope.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

namespace gputomo::models {
namespace {

/// Two candidates that differ by at most this share count as one number, their mean: it is off by less than any model.
constexpr double kNeighbours = 0.02;
constexpr double kWordBytes = 4;
constexpr std::string_view kAdd = "add.f32";
/// Relative spread of single loads from a busy memory. On a GTX 680 at 70% of its peak, 5% of them take less than 300
/// cycles and 5% more than 476, at a mean of 350 (Volkov 2016, Table 6.6). Loads from an idle memory may vary less.
constexpr double kBusyMemorySpread = (476.0 - 300.0) / 2 / 350;

/// Reads leaves of a description; errors name the missing one.
class Reader {
public:
    Reader(const machine::Machine& machine, std::string_view origin) : machine_(machine), origin_(origin) {}

    template <class T>
    [[nodiscard]] double need(const machine::Field<T>& field, std::string_view path) const {
        if (field.knowledge == machine::Knowledge::undecided && field.candidates.size() == 2 &&
            std::abs(field.candidates[1] - field.candidates[0]) <= kNeighbours * std::abs(field.candidates[0]))
            return (static_cast<double>(field.candidates[0]) + static_cast<double>(field.candidates[1])) / 2;
        if (!field)
            throw InputError(fmt::format("{}: {}: {}; expected a number, because models need it", origin_, path,
                                         field.knowledge == machine::Knowledge::undecided ? "undecided" : "missing"));
        return static_cast<double>(*field);
    }
    template <class Map>
    [[nodiscard]] const auto& entry(const Map& map, std::string_view section, std::string_view key) const {
        const auto found = map.find(std::string(key));
        if (found == map.end())
            throw InputError(
                fmt::format("{}: {}.{}: missing; expected an entry, because models need it", origin_, section, key));
        return found->second;
    }

    [[nodiscard]] Rate arithmetic() const {
        const auto operation = machine_.operations.find(std::string(kAdd));
        if (operation != machine_.operations.end() && operation->second.latency && operation->second.throughput)
            return {need(operation->second.latency, ""), need(operation->second.throughput, "") / kWarpSize};
        const auto& cores = entry(machine_.pipelines, "pipelines", "sp");
        return {need(cores.latency, "pipelines.sp.latency"), need(cores.lanes, "pipelines.sp.lanes") / kWarpSize};
    }
    /// The latency of a whole warp if it is known, else that of one thread.
    template <class T>
    [[nodiscard]] double warp_latency(const machine::Field<T>& warp, const machine::Field<T>& thread,
                                      std::string_view path) const {
        return warp ? static_cast<double>(*warp) : need(thread, path);
    }
    /// The latency of a whole warp to a dependent add. Described forward latencies are those of one thread.
    template <class Unit>
    [[nodiscard]] static std::optional<double> to_arithmetic(const Unit& unit) {
        const auto thread = middle(unit.forward_latency);
        return thread ? std::optional(*thread + costs::whole_warp_cycles(unit)) : std::nullopt;
    }

    void global(Parameters& p) const {
        const auto& path = entry(machine_.paths, "paths", "global");
        p.memory.latency = warp_latency(path.warp_latency, path.memory_latency, "paths.global.memory_latency");
        if (!path.warp_latency) p.memory.latency = std::round(p.memory.latency + wait_for_pauses() * p.clock_ghz);
        p.memory.throughput = p.accesses(need(machine_.memory.read_bandwidth, "memory.read_bandwidth"));
        p.latency_spread = std::max(kBusyMemorySpread, spread_of_single_loads(path.memory_latency));
        p.access_slots = path.issue_slots.value_or(1);
        contention(p);
    }
    /// Hits in the last cache on the path of global loads, which all SMs share.
    void l2(Parameters& p) const {
        const auto& path = entry(machine_.paths, "paths", "global");
        const auto names = machine::caches_on(machine_, "global");
        if (names.empty())
            throw InputError(fmt::format(
                "{}: paths.global.caches: no cache; expected one, because models of L2 hits need it", origin_));
        const auto& cache = entry(machine_.caches, "caches", names.back());
        p.memory.latency = need(cache.latency, "caches." + names.back() + ".latency");
        p.latency_spread = spread_of_single_loads(cache.latency);
        p.memory.throughput = cache.bytes_per_cycle.value_or(0) / p.sms / p.access_bytes;
        if (cache.sm_bytes_per_cycle && p.memory.throughput > 0)
            p.memory.throughput = std::min(p.memory.throughput, *cache.sm_bytes_per_cycle / p.access_bytes);
        p.access_slots = path.issue_slots.value_or(1);
    }
    /// Hits in the first cache on that path, if it is not also the last.
    void l1(Parameters& p) const {
        const auto& path = entry(machine_.paths, "paths", "global");
        const auto names = machine::caches_on(machine_, "global");
        if (names.size() < 2)
            throw InputError(
                fmt::format("{}: paths.global.caches: {} found; expected one in front of another, because models of L1 "
                            "hits need it",
                            origin_, names.size()));
        p.memory.latency =
            need(entry(machine_.caches, "caches", names.front()).latency, "caches." + names.front() + ".latency");
        p.access_slots = path.issue_slots.value_or(1);
    }
    void shared(Parameters& p) const {
        p.memory.latency = warp_latency(machine_.shared.warp_latency, machine_.shared.latency, "shared.latency");
        const double bytes_per_cycle = need(machine_.shared.bytes_per_cycle, "shared.bytes_per_cycle");
        p.memory.throughput = bytes_per_cycle / (kWarpSize * kWordBytes);
        p.access_slots = machine_.shared.issue_slots.value_or(1);
        p.latency_to_arithmetic = to_arithmetic(machine_.shared);
    }
    void sfu(Parameters& p) const {
        const auto& unit = entry(machine_.pipelines, "pipelines", "sfu");
        p.memory.latency = warp_latency(unit.warp_latency, unit.latency, "pipelines.sfu.latency");
        p.memory.throughput = need(unit.lanes, "pipelines.sfu.lanes") / kWarpSize;
        p.access_slots = unit.issue_slots.value_or(1);
        p.latency_to_arithmetic = to_arithmetic(unit);
    }
    /// MMA instructions. A description without them leaves the values at 0, for the caller to fill in.
    void tensor(Parameters& p) const {
        const auto unit = machine_.pipelines.find("tensor");
        if (unit == machine_.pipelines.end()) return;
        p.memory.latency = static_cast<double>(unit->second.latency.value_or(0));
        p.memory.throughput = unit->second.lanes.value_or(0) / kWarpSize;
        p.access_slots = unit->second.issue_slots.value_or(1);
        p.latency_to_arithmetic = middle(unit->second.forward_latency);
    }

private:
    /// Mean nanoseconds that memory pauses add to a load: one that arrives in a pause waits for half of it. A measured
    /// latency of a whole warp is a mean that includes them.
    [[nodiscard]] double wait_for_pauses() const {
        const auto &interval = machine_.memory.pause_interval, &time = machine_.memory.pause_time;
        return interval && time ? *time * *time / (2 * *interval) : 0;
    }
    void contention(Parameters& p) const {
        const auto& memory = machine_.memory;
        if (!memory.contention_base || !memory.contention_slopes || !memory.contention_limits) return;
        const auto& slopes = memory.contention_slopes.value;
        const auto& limits = memory.contention_limits.value;
        if (slopes.empty() || slopes.size() != limits.size())
            throw InputError(
                fmt::format("{}: memory.contention_limits: found {} numbers; expected {} as in "
                            "memory.contention_slopes, and at least 1",
                            origin_, limits.size(), slopes.size()));
        Contention contention{.base = *memory.contention_base, .terms = {}};
        for (std::size_t i = 0; i < slopes.size(); ++i) contention.terms.push_back({slopes[i], limits[i]});
        p.contention = std::move(contention);
    }

    const machine::Machine& machine_;
    std::string_view origin_;
};

constexpr std::string_view kAccessNames[] = {"global", "shared", "sfu", "l2", "l1", "tensor"};

}  // namespace

double spread_of_single_loads(const machine::Integer& latency) {
    const auto interval = latency ? latency.provenance.interval : std::nullopt;
    return interval ? ((*interval)[1] - (*interval)[0]) / 2 / static_cast<double>(*latency) : 0;
}

std::span<const std::string_view> access_names() { return kAccessNames; }

std::string_view name_of(Access access) { return kAccessNames[static_cast<std::size_t>(access)]; }

Access access_named(std::string_view name) {
    const auto found = std::ranges::find(kAccessNames, name);
    if (found == std::end(kAccessNames))
        throw InputError(fmt::format("access '{}': expected one of {}", name, fmt::join(kAccessNames, ", ")));
    return static_cast<Access>(found - std::begin(kAccessNames));
}

std::optional<double> middle(const machine::Integer& field) {
    if (field) return static_cast<double>(*field);
    if (field.candidates.empty()) return std::nullopt;
    const auto [least, most] = std::ranges::minmax(field.candidates);
    return static_cast<double>(least + most) / 2;
}

double Contention::latency(double gigabytes_per_second) const {
    double cycles = base;
    for (const auto& term : terms) cycles += term.slope * gigabytes_per_second / (term.limit - gigabytes_per_second);
    return cycles;
}

double Contention::lowest_limit() const {
    double lowest = std::numeric_limits<double>::infinity();
    for (const auto& term : terms) lowest = std::min(lowest, term.limit);
    return lowest;
}

double value_at(const Curve& curve, double warps) {
    const auto after = curve.lower_bound(warps);
    if (after == curve.end()) return curve.empty() ? 0 : std::prev(after)->second;
    const auto [x0, y0] = after == curve.begin() ? std::pair<const double, double>{0, 0} : *std::prev(after);
    return y0 + (after->second - y0) * (warps - x0) / (after->first - x0);
}

double value_near(const Curve& curve, double x) { return value_at(curve, std::max(x, curve.begin()->first)); }

Parameters parameters_of(const machine::Machine& machine, Access access, std::string_view origin) {
    const Reader read(machine, origin);
    Parameters p;
    p.gpu = machine.identity.name.value_or(std::string(origin));
    p.access = access;
    p.sms = static_cast<int>(read.need(machine.topology.sms, "topology.sms"));
    p.schedulers = static_cast<int>(machine.issue.schedulers_per_sm.value_or(1));
    p.max_warps = static_cast<int>(machine.topology.max_threads_per_sm.value_or(0) /
                                   machine.topology.warp_size.value_or(kWarpSize));
    p.clock_ghz = read.need(machine.clock.sm_mhz, "clock.sm_mhz") / 1000;
    p.ilp_latency = static_cast<double>(machine.issue.ilp_latency.value_or(1));
    p.pin_bandwidth = machine.memory.peak_bandwidth.value_or(0);
    p.arithmetic = read.arithmetic();
    // Without a known number of schedulers, the best rate of adds is the highest issue rate that is known.
    p.issue_throughput = machine.issue.schedulers_per_sm ? p.schedulers / machine.issue.issue_interval.value_or(1)
                                                         : p.arithmetic.throughput;
    p.arithmetic.throughput = std::min(p.arithmetic.throughput, p.issue_throughput);  // single issue (Volkov 2016, 4.1)
    if (access == Access::global) read.global(p);
    if (access == Access::shared) read.shared(p);
    if (access == Access::sfu) read.sfu(p);
    if (access == Access::l2) read.l2(p);
    if (access == Access::l1) read.l1(p);
    if (access == Access::tensor) read.tensor(p);
    return p;
}

}  // namespace gputomo::models
