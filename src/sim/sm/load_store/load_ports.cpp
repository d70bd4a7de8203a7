#include "sim/sm/load_store/load_ports.hpp"

#include "sim/memory/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace gputomo::sim {
namespace {

/// Cycles for which the storage of an SM is busy with a line of a load or an atomic, if the description has no
/// transaction_interval. It takes one if the words of a warp lie in one bank. An H200 takes a quarter of a cycle if
/// they lie in different ones. A larger one makes scattered loads slower in proportion.
constexpr double kLoadLine = 1;
/// Cycles of a transaction on a path that is only known to take one access at a time: less than any clock shows.
constexpr double kInNoTime = 1e-9;
/// The compute capability from which all global accesses pass through one cache with shared memory (Volta).
constexpr std::int64_t kOneCacheFrom = 7;

double given_interval(const machine::Real& field, PathKind path, std::string_view name) {
    return field ? need_rate(field, fmt::format("paths.{}.{}", kPathNames[static_cast<std::size_t>(path)], name)) : 0;
}

LoadPort port_of(const machine::Machine& machine, PathKind kind) {
    const auto described = machine.paths.find(std::string(kPathNames[static_cast<std::size_t>(kind)]));
    if (described == machine.paths.end())
        return kind == PathKind::local ? port_of(machine, PathKind::global) : LoadPort{};
    const machine::Path& path = described->second;
    LoadPort port{.access = given_interval(path.access_interval, kind, "access_interval"),
                  .transaction = given_interval(path.transaction_interval, kind, "transaction_interval"),
                  .wide = path.wide_fetches.value_or(2),
                  .plane = path.plane_fetches.value_or(2)};
    if (path.store_interval) port.sector = given_interval(path.store_interval, kind, "store_interval");
    if (path.partial_interval) port.partial = given_interval(path.partial_interval, kind, "partial_interval");
    const bool global = kind == PathKind::global || kind == PathKind::local;
    // GlobalLoads applies the cost of global loads.
    if (!global && path.transaction_cost)
        port.spacing = given_interval(path.transaction_cost, kind, "transaction_cost");
    if (global && machine.identity.compute_capability_major.value_or(0) >= kOneCacheFrom) {
        const auto caches = path.caches.value_or({});
        port.of_storage =
            machine.shared.unified_cache && !caches.empty() && caches.front() == *machine.shared.unified_cache;
        if (port.transaction == 0) port.transaction = kLoadLine;
    }
    // A path that takes an access at a time takes its transactions in no time if nothing else is known.
    if (port.transaction == 0 && port.access > 0) port.transaction = kInNoTime;
    return port;
}

}  // namespace

LoadPorts load_ports_of(const machine::Machine& machine) {
    LoadPorts ports{};
    for (std::size_t kind = 0; kind < kPathNames.size(); ++kind)
        ports[kind] = port_of(machine, static_cast<PathKind>(kind));
    return ports;
}

PortTime port_time(const LoadPort& port, const SharedBanks& banks, const PortAccess& access,
                   const std::vector<Segment>& segments) {
    PortTime time;
    if (access.kind == AccessKind::store) {
        for (const Segment& segment : segments)
            time.stage += port.sector * segment.pieces + (segment.partial ? port.partial : 0);
        return time;
    }
    time.stage = read_cycles(port, access.fetches, segments.size());
    if (!port.of_storage) return time;
    const auto words = banks.access(access.addresses, access.mask, {.bytes = access.bytes});
    if (access.kind == AccessKind::load) {
        time.returning = std::max(time.stage, words.returning);
        time.spread = words.conflict;
    }
    time.stage = std::max(time.stage, words.occupancy);
    return time;
}

double read_cycles(const LoadPort& port, double fetches, std::size_t transactions) {
    return std::max(port.access * fetches, port.transaction * static_cast<double>(transactions));
}

/// Three dimensions and 8 bytes are assumed to take as long as two and as 4.
double fetches_of(const LoadPort& port, unsigned dimensions, std::uint32_t texel_bytes) {
    constexpr std::uint32_t kWide = 16;
    return (dimensions > 1 ? port.plane : 1) * (texel_bytes >= kWide ? port.wide : 1);
}

Coalescers::Coalescers(const machine::Machine& machine)
    : global(machine, "global"),
      global_far(machine, "global", Coalescer::From::far),
      local(machine, machine.paths.contains("local") ? "local" : "global"),
      local_far(machine, machine.paths.contains("local") ? "local" : "global", Coalescer::From::far),
      texture(machine, "texture"),
      constant(Coalescer::word_by_word()) {}

}  // namespace gputomo::sim
