#include "sim/memory/levels.hpp"

#include "machine/dram_variation.hpp"
#include "sim/memory/description.hpp"
#include "sim/memory/dram.hpp"
#include "sim/memory/memory_system.hpp"

#include <algorithm>
#include <memory>
#include <random>

namespace gputomo::sim {
namespace {

/// Slots of a port's calendar: queues of up to 4096 cycles. Longer queues come out too short.
constexpr std::uint32_t kLevelPortSlots = 256;
/// Catches typing errors.
constexpr std::int64_t kMaxEntries = 1 << 20, kMaxLinesAhead = 1 << 10;

template <class Leaf>
std::string choice(const Leaf& field, const std::string& path, std::initializer_list<std::string_view> allowed,
                   std::string_view fallback) {
    std::string value = field.value_or(std::string(fallback));
    for (const auto name : allowed)
        if (name == value) return value;
    reject(path, fmt::format("found \"{}\"", value),
           fmt::format("one of {}", fmt::join(allowed.begin(), allowed.end(), ", ")));
}

class Builder {
public:
    Builder(const machine::Machine& machine, const Placement& placement, std::uint64_t seed, Levels& to)
        : machine_(machine), placement_(placement), seeds_(seed), to_(to) {}

    void build_path(std::size_t kind);

private:
    CacheLevel* cache(const std::string& key, const std::string& named_by);
    TlbLevel* tlb(const std::string& key, const std::string& named_by);
    void read_timing(const machine::Cache& from, CacheLevel& level, const std::string& where);
    void read_gpcs(const machine::Cache& from, CacheLevel& level, const std::string& where) const;
    void read_stores(const machine::Cache& from, CacheLevel& level, const std::string& where);
    void read_port(const machine::Cache& from, CacheLevel& level, const std::string& where);
    static void read_ahead(const machine::Cache& from, CacheLevel& level, const std::string& where);
    /// Tables of a cache or a path, one for each of `instances`.
    template <class Part, class Level>
    static void read_outstanding(const Part& from, Level& level, std::size_t instances, const std::string& where);
    void check_order(const MemoryPath& path, const std::vector<std::string>& keys, const std::string& where,
                     bool stores) const;
    template <class Part>
    std::vector<TagArray> arrays(const Part& from, Scope scope, const std::string& where);

    const machine::Machine& machine_;
    const Placement& placement_;
    std::mt19937_64 seeds_;
    Levels& to_;
};

template <class Part>
std::vector<TagArray> Builder::arrays(const Part& from, Scope scope, const std::string& where) {
    const auto geometry = std::make_shared<const Geometry>(geometry_of(from, where));
    std::vector<TagArray> made;
    for (std::size_t i = 0; i < placement_.instances(scope); ++i) made.emplace_back(geometry, seeds_());
    return made;
}

void Builder::read_timing(const machine::Cache& from, CacheLevel& level, const std::string& where) {
    const double latency = need_cycles(from.latency, where + ".latency");
    if (from.bytes_per_cycle) {
        level.cycles_per_byte = 1 / need_rate(from.bytes_per_cycle, where + ".bytes_per_cycle");
        level.ports.assign(level.instances.size(), Server(kLevelPortSlots));
    }
    const bool shared_near = level.scope != Scope::gpu && level.scope != Scope::sm && level.scope != Scope::scheduler;
    if (from.sm_bytes_per_cycle && shared_near) {
        level.cycles_per_sm_byte = 1 / need_rate(from.sm_bytes_per_cycle, where + ".sm_bytes_per_cycle");
        level.sm_ports.assign(placement_.sms(), Server(kLevelPortSlots));
    }
    read_gpcs(from, level, where);
    if (from.partitions)
        level.partitions =
            static_cast<std::uint32_t>(need_count(from.partitions, where + ".partitions", placement_.sms()));
    if (level.partitions > 1 && level.scope != Scope::gpu)
        reject(where + ".partitions", fmt::format("found {}", level.partitions),
               "1, because only a cache of the whole GPU has partitions");
    if (!from.far_latency) {
        level.latency = placement_.spread(*from.latency, from.latency_range, where + ".latency_range");
        return;
    }
    if (level.partitions < 2)
        reject(where + ".partitions", "found 1 or nothing", "2 or more, because far_latency is given");
    const double far = need_cycles(from.far_latency, where + ".far_latency");
    if (far < latency)
        reject(where + ".far_latency", fmt::format("found {}", *from.far_latency),
               fmt::format("at least the latency, {}", latency));
    // The described latency is the mean over an SM's own partition and the others.
    level.far_extra = level.partitions * (far - latency);
    if (level.far_extra >= far)
        reject(where + ".far_latency", fmt::format("found {}", *from.far_latency),
               fmt::format("less: with a mean of {}, hits in an SM's own partition would take no time", latency));
    level.latency.assign(placement_.sms(), far - level.far_extra);
}

void Builder::read_gpcs(const machine::Cache& from, CacheLevel& level, const std::string& where) const {
    if (!from.gpc_bytes_per_cycle && !from.merged_requests) return;
    if (level.scope != Scope::gpu)
        reject(where + (from.gpc_bytes_per_cycle ? ".gpc_bytes_per_cycle" : ".merged_requests"),
               fmt::format("found beside the scope \"{}\"", from.scope.value_or("?")),
               "the scope \"gpu\", because the SMs of a GPC share their way to a cache of all SMs");
    GpcSpec spec;
    if (from.gpc_bytes_per_cycle)
        spec.cycles_per_byte = 1 / need_rate(from.gpc_bytes_per_cycle, where + ".gpc_bytes_per_cycle");
    if (from.merged_requests)
        spec.merged =
            static_cast<std::uint32_t>(need_count(from.merged_requests, where + ".merged_requests", kMaxEntries));
    if (spec.merged > 1) spec.within = need_cycles(from.merged_within, where + ".merged_within");
    level.of_gpcs.assign(placement_.gpcs(), GpcRequests(spec));
}

void Builder::read_port(const machine::Cache& from, CacheLevel& level, const std::string& where) {
    const std::string& key = *from.port_of;
    CacheLevel* const other = cache(key, where + ".port_of");
    if (other == &level || level.ports.empty() || other->ports.size() != level.ports.size() ||
        other->port_of != nullptr)
        reject(where + ".port_of", fmt::format("found \"{}\"", key),
               "a cache with the same scope, where both have bytes_per_cycle and that one has a port of its own");
    level.port_of = other;
}

void Builder::read_stores(const machine::Cache& from, CacheLevel& level, const std::string& where) {
    // Defaults: near caches pass stores through, the cache of the whole GPU keeps them.
    const bool far = level.scope == Scope::gpu;
    level.allocates_stores = choice(from.allocation, where + ".allocation", {"load", "load-store"},
                                    far ? "load-store" : "load") == "load-store";
    level.write_back = choice(from.write_policy, where + ".write_policy", {"write-through", "write-back"},
                              far ? "write-back" : "write-through") == "write-back";
    level.stores_block_fills =
        far && choice(from.filling_store, where + ".filling_store", {"merges", "blocks"}, "merges") == "blocks";
    if (level.write_back && !far)
        reject(where + ".write_policy", "found \"write-back\"",
               "\"write-through\", because only caches of scope gpu are simulated with write-back");
}

void Builder::read_ahead(const machine::Cache& from, CacheLevel& level, const std::string& where) {
    if (!from.fetched_ahead || *from.fetched_ahead == 0) return;
    const std::uint64_t line = level.instances.front().block_bytes();
    const auto bytes = static_cast<std::uint64_t>(need_count(from.fetched_ahead, where + ".fetched_ahead"));
    if (bytes % line != 0 || bytes / line > kMaxLinesAhead)
        reject(where + ".fetched_ahead", fmt::format("found {}", bytes),
               fmt::format("a multiple of {}, the bytes of a line, of at most {} lines", line, kMaxLinesAhead));
    level.lines_ahead = bytes / line;
}

template <class Part, class Level>
void Builder::read_outstanding(const Part& from, Level& level, std::size_t instances, const std::string& where) {
    if (!from.outstanding_design) return;
    level.merges_lines = choice(from.outstanding_design, where + ".outstanding_design", {"mshr", "prt"}, "") == "mshr";
    OutstandingTable::Design design;
    design.entries =
        static_cast<std::uint32_t>(need_count(from.outstanding_entries, where + ".outstanding_entries", kMaxEntries));
    design.merge_limit =
        level.merges_lines
            ? static_cast<std::uint32_t>(need_count(from.outstanding_merge, where + ".outstanding_merge", kMaxEntries))
            : ~std::uint32_t{0};
    level.outstanding.assign(instances, OutstandingTable(design));
}

CacheLevel* Builder::cache(const std::string& key, const std::string& named_by) {
    const auto described = machine_.caches.find(key);
    if (described == machine_.caches.end()) reject(named_by, fmt::format("found \"{}\"", key), "keys of caches");
    const auto [entry, is_new] = to_.caches.try_emplace(key);
    CacheLevel& level = entry->second;
    if (!is_new) return &level;
    const std::string where = key_path("caches", key);
    level.scope = placement_.scope_of(described->second.scope, where + ".scope");
    level.instances = arrays(described->second, level.scope, where);
    read_timing(described->second, level, where);
    read_stores(described->second, level, where);
    read_ahead(described->second, level, where);
    read_outstanding(described->second, level, level.instances.size(), where);
    if (described->second.port_of) read_port(described->second, level, where);
    return &level;
}

TlbLevel* Builder::tlb(const std::string& key, const std::string& named_by) {
    const auto described = machine_.tlbs.find(key);
    if (described == machine_.tlbs.end()) reject(named_by, fmt::format("found \"{}\"", key), "keys of tlbs");
    const auto [entry, is_new] = to_.tlbs.try_emplace(key);
    TlbLevel& level = entry->second;
    if (!is_new) return &level;
    const std::string where = key_path("tlbs", key);
    level.scope = placement_.scope_of(described->second.scope, where + ".scope");
    level.instances = arrays(described->second, level.scope, where);
    level.penalty = need_cycles(described->second.miss_penalty, where + ".miss_penalty");
    const machine::Flag& outlasts = described->second.outlasts_launches;
    level.outlasts_launches = outlasts.value_or(false);
    level.is_emptied = outlasts.known() && !*outlasts;
    return &level;
}

void Builder::check_order(const MemoryPath& path, const std::vector<std::string>& keys, const std::string& where,
                          bool stores) const {
    for (std::size_t i = 0; i < path.caches.size(); ++i) {
        if (i >= path.near && path.caches[i]->scope != Scope::gpu)
            reject(where + ".caches", fmt::format("found \"{}\" after a cache of scope gpu", keys[i]),
                   "the caches of less than the whole GPU first");
        if (stores && path.caches[i]->write_back && i + 1 != path.caches.size() && path.caches[i + 1]->allocates_stores)
            reject(key_path("caches", keys[i]) + ".write_policy",
                   "found \"write-back\" (or nothing, which means that for scope gpu)",
                   fmt::format("\"write-through\", because {} has a cache after it that stores allocate in", where));
    }
    if (path.translates_after_first && path.near == 0 && !path.caches.empty())
        reject(where + ".tlb_position", "found \"after-first-cache\"",
               "\"before-caches\", because the first cache has scope gpu and is found by physical address");
}

/// Cycles between the latencies of the nearest and the farthest line of memory. Their mean has to be the described
/// latency.
double checked_line_range(const machine::Path& from, const machine::Refresh& refresh, const std::string& where) {
    if (from.memory_latency_partition_range &&
        need_cycles(from.memory_latency_partition_range, where + ".memory_latency_partition_range") >
            2 * *from.memory_latency)
        reject(where + ".memory_latency_partition_range", fmt::format("found {}", *from.memory_latency_partition_range),
               "at most twice memory_latency, which is the mean");
    if (!from.memory_latency_line_range) return machine::line_range(from, refresh);
    const auto& ends = *from.memory_latency_line_range;
    const auto mean = *from.memory_latency;
    if (ends.size() != 2 || ends[0] < 0 || ends[0] > mean || mean > ends[1] ||
        std::abs(ends[0] + ends[1] - 2 * mean) > 1)
        reject(where + ".memory_latency_line_range", fmt::format("found [{}]", fmt::join(ends, ", ")),
               fmt::format("[smallest, largest] with the mean {}", mean));
    return machine::line_range(from, refresh);
}

void Builder::build_path(std::size_t kind) {
    const std::string name(kPathNames[kind]);
    const auto described = machine_.paths.find(name);
    if (described == machine_.paths.end()) return;
    const machine::Path& from = described->second;
    const std::string where = key_path("paths", name);
    MemoryPath& path = to_.paths[kind];
    path.described = true;
    const auto cache_keys = from.caches.value_or({});
    for (const auto& key : cache_keys) path.caches.push_back(cache(key, where + ".caches"));
    for (const auto& key : from.tlbs.value_or({})) path.tlbs.push_back(tlb(key, where + ".tlbs"));
    while (path.near < path.caches.size() && path.caches[path.near]->scope != Scope::gpu) ++path.near;
    path.translates_after_first =
        choice(from.tlb_position, where + ".tlb_position", {"before-caches", "after-first-cache"}, "before-caches") ==
        "after-first-cache";
    for (auto cache = path.caches.begin(); cache != path.caches.end(); ++cache)
        if (std::find(path.caches.begin(), cache, *cache) != cache)
            reject(where + ".caches", "found one cache twice", "each cache once");
    check_order(path, cache_keys, where, name == "global" || name == "local");
    if (from.outstanding_design && path.near > 0)
        reject(where + ".outstanding_design", "found beside a cache of the SM",
               fmt::format("{}.outstanding_design instead", key_path("caches", cache_keys.front())));
    read_outstanding(from, path, placement_.sms(), where);
    (void)need_cycles(from.memory_latency, where + ".memory_latency");
    path.memory_latency =
        placement_.spread(*from.memory_latency, from.memory_latency_range, where + ".memory_latency_range");
    const machine::Refresh refresh = refresh_of(machine_);
    if (from.memory_latency_unrefreshed &&
        need_cycles(from.memory_latency_unrefreshed, where + ".memory_latency_unrefreshed") > *from.memory_latency)
        reject(where + ".memory_latency_unrefreshed", fmt::format("found {}", *from.memory_latency_unrefreshed),
               fmt::format("at most memory_latency, {}", *from.memory_latency));
    const double waits = machine::refresh_wait_of(from, refresh);
    if (waits >= static_cast<double>(*from.memory_latency))
        reject(where + ".memory_latency", fmt::format("found {}", *from.memory_latency),
               fmt::format("more than the {:.0f} cycles of it that loads wait for refreshes", waits));
    for (double& latency : path.memory_latency) latency -= waits;
    path.line_range = checked_line_range(from, refresh, where);
    if (!cache_keys.empty() && path.caches.back()->scope == Scope::gpu)
        path.far = machine::far_memory(from, machine_.caches.at(cache_keys.back()));
    if (from.memory_far_request && *from.memory_far_request > from.memory_far_extra.value_or(0))
        reject(where + ".memory_far_request", fmt::format("found {}", *from.memory_far_request),
               "at most memory_far_extra, of which it is a part");
    if (from.memory_far_extra &&
        need_cycles(from.memory_far_extra, where + ".memory_far_extra") > 2 * *from.memory_latency)
        reject(where + ".memory_far_extra", fmt::format("found {}", *from.memory_far_extra),
               "less than twice memory_latency, which is the mean");
    if (from.page_window) {
        path.window = need_count(from.page_window, where + ".page_window", std::int64_t{1} << 62);
        path.window_penalty = need_cycles(from.page_window_penalty, where + ".page_window_penalty");
    }
    if (from.page_walk_memory_penalty) {
        if (path.caches.empty() || path.caches.back()->scope != Scope::gpu || path.tlbs.empty())
            reject(where + ".page_walk_memory_penalty",
                   "found on a path without TLBs or without a cache of the whole GPU", "both");
        path.page_walk_penalty = need_cycles(from.page_walk_memory_penalty, where + ".page_walk_memory_penalty");
    }
}

}  // namespace

Levels::Levels(const machine::Machine& machine, const Placement& placement, std::uint64_t seed) {
    Builder builder(machine, placement, seed, *this);
    for (std::size_t kind = 0; kind < kPathNames.size(); ++kind) builder.build_path(kind);
    for (const auto& [name, path] : machine.paths) {
        (void)path;
        if (std::find(kPathNames.begin(), kPathNames.end(), name) == kPathNames.end())
            reject(key_path("paths", name), "unknown path", fmt::format("one of {}", fmt::join(kPathNames, ", ")));
    }
}

}  // namespace gputomo::sim
