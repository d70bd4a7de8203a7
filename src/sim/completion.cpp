#include "sim/completion.hpp"

#include "costs/asynchronous_operations.hpp"
#include "costs/constant_operands.hpp"
#include "costs/fences.hpp"
#include "costs/register_branches.hpp"
#include "machine/gpc_size.hpp"
#include "machine/store_queue.hpp"
#include "sim/ignored_leaves.hpp"
#include "sim/memory/description.hpp"
#include "units/warp.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

namespace gputomo::sim {
namespace {

/// Bytes of a line where the description does not say: that of the L1 from Fermi on.
constexpr std::int64_t kLine = 128;
/// Bytes that a TLB entry spans where the description does not say: the driver's pages of 2 MiB.
constexpr std::int64_t kSpan = std::int64_t{2} << 20;
constexpr double kWarp = kWarpSize;
/// Ways of a cache or TLB whose sets were not found. Fewer ways make more conflict misses, more make fewer.
constexpr std::int64_t kWays = 16;
/// Shared memory from Fermi on: banks, and bytes of a bank's word.
constexpr std::int64_t kBanks = 32, kBankWidth = 4;
/// The compute capability from which the threads of a warp are scheduled independently (Volta).
constexpr std::int64_t kIndependentFrom = 7;
/// Compute capability of the GPUs for which launch.profiler_cycles of an H200 is assumed. Without it, kernels of a few
/// microseconds would seem up to twice as fast as a profiler finds them.
constexpr std::int64_t kHopper = 9;
constexpr double kHopperProfilerCycles = 2880;
/// Time of a sector that is written in part, relative to a whole one: an H100 writes 30.8 in a cycle instead of 67.9.
/// The second is the time of a texture fetch of 16 bytes (8.1 cycles) or two dimensions (8.0), relative to 4.1 cycles.
constexpr double kPartialCost = 2.2, kTwice = 2;

class Completion {
public:
    explicit Completion(machine::Machine& machine) : machine_(machine) {}

    void topology();
    void units();
    void memory();
    std::vector<std::string> take() { return std::move(assumed_); }

private:
    /// The value that an undecided leaf suggests: its first candidate, or the lower end of its interval.
    template <class T>
    static std::optional<T> guess(const machine::Field<T>& field) {
        if (field.knowledge != machine::Knowledge::undecided) return std::nullopt;
        if (!field.candidates.empty()) return field.candidates.front();
        if constexpr (std::is_arithmetic_v<T>)
            if (field.provenance.interval) return static_cast<T>(std::floor((*field.provenance.interval)[0]));
        return std::nullopt;
    }

    template <class T>
    void set(machine::Field<T>& field, const std::string& path, T value) {
        if constexpr (std::is_same_v<T, std::vector<std::string>>)
            assumed_.push_back(fmt::format("{} = [{}]", path, fmt::join(value, ", ")));
        else
            assumed_.push_back(fmt::format("{} = {}", path, value));
        machine::Provenance why;
        why.method = kAssumedMethod;
        field.set(std::move(value), std::move(why));
    }

    /// Sets the leaf where it has no value.
    template <class T>
    void assume(machine::Field<T>& field, const std::string& path, T fallback) {
        if (!field) set(field, path, guess(field).value_or(std::move(fallback)));
    }
    template <class T>
    void assume(machine::Field<T>& field, const std::string& path) {
        const auto value = guess(field);
        if (!field && value) set(field, path, *value);
    }

    void since_volta();
    void operation_rows();
    void cache(const std::string& key, machine::Cache& cache, bool first);
    void tlb(const std::string& key, machine::Tlb& tlb, bool first, std::int64_t span);
    /// Gives the part kWays ways where neither ways nor sets are known. Returns whether its sets follow from its size.
    template <class Part>
    bool ways_and_policy(const std::string& where, Part& part) {
        if (!part.set_ways && !part.ways && !part.sets) set(part.ways, where + ".ways", kWays);
        const bool open = !part.set_ways && !(part.ways && part.sets);
        // With one way in each set there is no victim to choose.
        if (part.ways.value_or(2) != 1) assume(part.policy, where + ".policy", std::string("lru"));
        return open;
    }
    void drop_sizeless(const std::string& where, machine::Path& path);
    void drop_instructions();
    void copy_path(const std::string& name);

    machine::Machine& machine_;
    std::vector<std::string> assumed_;
};

void Completion::topology() {
    assume(machine_.clock.sm_mhz, "clock.sm_mhz");
    assume(machine_.clock.scope, "clock.scope", std::string("sm"));
    auto& topology = machine_.topology;
    if (*machine_.clock.scope == "gpc")
        assume(topology.sms_per_gpc, "topology.sms_per_gpc", machine::kAssumedSmsPerGpc);
    if (*machine_.clock.scope == "tpc") assume(topology.sms_per_tpc, "topology.sms_per_tpc", std::int64_t{1});
    if (machine_.identity.compute_capability_major.value_or(0) >= kIndependentFrom)
        assume(machine_.issue.divergence, "issue.divergence", std::string("independent"));
    if (machine_.identity.compute_capability_major.value_or(0) >= kIndependentFrom) since_volta();
    if (machine_.identity.compute_capability_major.value_or(0) == kHopper)
        assume(machine_.launch.profiler_cycles, "launch.profiler_cycles", kHopperProfilerCycles);
}

/// What no experiment finds is as on an H100.
void Completion::since_volta() {
    assume(machine_.issue.store_queue, "issue.store_queue", machine::kAssumedStoreQueue);
    assume(machine_.shared.paired_reads, "shared.paired_reads", true);
    for (auto& [name, path] : machine_.paths) {
        const auto where = key_path("paths", name);
        if (name == "texture") {
            assume(path.wide_fetches, where + ".wide_fetches", kTwice);
            assume(path.plane_fetches, where + ".plane_fetches", kTwice);
        }
        if (name != "global") continue;
        assume(path.transaction_interval, where + ".transaction_interval", 1.0);
        assume(path.store_interval, where + ".store_interval", 1.0);
        assume(path.partial_interval, where + ".partial_interval", 1.0);
    }
    if (const auto stores = machine_.accesses.find("l2_store"); stores != machine_.accesses.end())
        assume(stores->second.partial_cost, "accesses.l2_store.partial_cost", kPartialCost);
}

/// A scan times operations without finding their units. Doubles, approximations and all other operations get a unit
/// each.
void Completion::operation_rows() {
    const auto pipeline_of = [](const std::string& key) {
        return key.ends_with("f64") ? "dpu" : key.find(".approx") != std::string::npos ? "sfu" : "sp";
    };
    std::size_t placed = 0;
    for (auto row = machine_.operations.begin(); row != machine_.operations.end();) {
        auto& [key, operation] = *row;
        if (costs::is_asynchronous(key) || costs::is_fence(key) || costs::is_part_of_instruction(key) ||
            key == costs::kConstantOperand) {
            ++row;
            continue;
        }
        const auto where = key_path("operations", key);
        assume(operation.latency, where + ".latency");
        assume(operation.throughput, where + ".throughput");
        if (!operation.latency || !operation.throughput) {
            assumed_.push_back(where + " as the nearest operation of its family");
            row = machine_.operations.erase(row);
            continue;
        }
        const std::string unit = pipeline_of(key);
        const bool listed = std::ranges::any_of(machine_.pipelines, [&name = row->first](const auto& p) {
            return std::ranges::count(p.second.executes.value_or({}), name) != 0;
        });
        if (!operation.units && !listed && machine_.pipelines.contains(unit)) {
            operation.units.set({unit});
            ++placed;
        }
        ++row;
    }
    if (placed > 0) assumed_.push_back(fmt::format("units of {} operations chosen by their kind", placed));
}

void Completion::units() {
    double widest = 0;
    for (auto& [name, pipeline] : machine_.pipelines) {
        assume(pipeline.lanes, key_path("pipelines", name) + ".lanes", kWarp);
        assume(pipeline.forward_latency, key_path("pipelines", name) + ".forward_latency");
        widest = std::max(widest, *pipeline.lanes);
    }
    operation_rows();
    if (widest > 0)
        assume(machine_.issue.schedulers_per_sm, "issue.schedulers_per_sm",
               std::max<std::int64_t>(1, std::llround(widest / kWarp)));
    auto& shared = machine_.shared;
    assume(shared.latency, "shared.latency");
    assume(shared.forward_latency, "shared.forward_latency");
    assume(shared.banks, "shared.banks", kBanks);
    assume(shared.bank_width, "shared.bank_width", kBankWidth);
    assume(shared.access_group, "shared.access_group");
    assume(shared.conflict_cost, "shared.conflict_cost");
    assume(shared.bytes_per_cycle, "shared.bytes_per_cycle");
}

void Completion::cache(const std::string& key, machine::Cache& cache, bool first) {
    const auto where = key_path("caches", key);
    assume(cache.scope, where + ".scope", std::string(first ? "sm" : "gpu"));
    assume(cache.latency, where + ".latency");
    assume(cache.sector, where + ".sector", cache.line.value_or(kLine));
    assume(cache.line, where + ".line", std::max(kLine, *cache.sector));
    if (!ways_and_policy(where, cache)) return;
    // A capacity that was read from a curve need not be a whole number of sets.
    const auto capacity = cache.capacity ? std::optional(*cache.capacity) : guess(cache.capacity);
    const auto step = *cache.line * cache.ways.value_or(1) * cache.sets.value_or(1);
    if (capacity && (!cache.capacity || *capacity % step != 0))
        set(cache.capacity, where + ".capacity", std::max(step, *capacity / step * step));
}

void Completion::tlb(const std::string& key, machine::Tlb& tlb, bool first, std::int64_t span) {
    const auto where = key_path("tlbs", key);
    assume(tlb.scope, where + ".scope", std::string(first ? "sm" : "gpu"));
    assume(tlb.miss_penalty, where + ".miss_penalty", std::int64_t{0});
    assume(tlb.span, where + ".span", span);
    if (!ways_and_policy(where, tlb) || tlb.entries) return;
    const auto reach = tlb.reach ? *tlb.reach : guess(tlb.reach).value_or(0);
    const auto step = *tlb.span * tlb.ways.value_or(1) * tlb.sets.value_or(1);
    if (reach >= step) set(tlb.entries, where + ".entries", reach / step * step / *tlb.span);
}

void Completion::copy_path(const std::string& name) {
    if (machine_.paths.contains(name)) return;
    machine_.paths[name] = machine_.paths.at("global");
    assumed_.push_back(fmt::format("paths.{} as paths.global", name));
}

/// A scan that does not reach the end of a path's last cache finds only its latency. Memory of that latency is
/// simulated instead.
void Completion::drop_sizeless(const std::string& where, machine::Path& path) {
    auto caches = path.caches.value_or({});
    while (!caches.empty()) {
        const auto found = machine_.caches.find(caches.back());
        if (found == machine_.caches.end()) return;
        const auto& cache = found->second;
        if (cache.capacity || guess(cache.capacity) || cache.set_ways || (cache.ways && cache.sets)) return;
        assumed_.push_back(
            fmt::format("{} simulated as memory, because its size is not known", key_path("caches", found->first)));
        if (!path.memory_latency && !guess(path.memory_latency)) path.memory_latency = cache.latency;
        machine_.caches.erase(found);
        caches.pop_back();
        set(path.caches, where + ".caches", caches);
    }
}

/// Where no level is known, instructions are always there.
void Completion::drop_instructions() {
    const auto path = machine_.paths.find("instruction");
    if (path == machine_.paths.end() || path->second.caches) return;
    machine_.paths.erase(path);
    std::erase_if(machine_.caches, [](const auto& entry) { return entry.first.starts_with("instruction_"); });
    assumed_.emplace_back("paths.instruction left out, because none of its caches is known");
}

void Completion::memory() {
    assume(machine_.memory.read_bandwidth, "memory.read_bandwidth");
    drop_instructions();
    for (auto& [name, path] : machine_.paths) {
        const auto where = key_path("paths", name);
        drop_sizeless(where, path);
        assume(path.memory_latency, where + ".memory_latency");
        assume(path.caches, where + ".caches");
        assume(path.tlbs, where + ".tlbs");
        const auto caches = path.caches.value_or({});
        // A scan names a cache "l1" where only loads that may hit near the SM hit it.
        for (std::size_t i = 0; i < caches.size(); ++i)
            if (const auto found = machine_.caches.find(caches[i]); found != machine_.caches.end())
                cache(found->first, found->second, i == 0 && (caches.size() > 1 || caches[i] == "l1"));
        std::int64_t span = kSpan;
        const auto tlbs = path.tlbs.value_or({});
        for (std::size_t i = 0; i < tlbs.size(); ++i) {
            const auto found = machine_.tlbs.find(tlbs[i]);
            if (found == machine_.tlbs.end()) continue;
            tlb(found->first, found->second, i == 0, span);
            span = *found->second.span;
        }
    }
    if (!machine_.paths.contains("global")) return;
    copy_path("texture");
    copy_path("constant");
}

}  // namespace

Completed completed(machine::Machine machine) {
    const auto ignored = ignored_leaves(machine);
    Completed result{std::move(machine), {}};
    Completion completion(result.machine);
    completion.topology();
    completion.units();
    completion.memory();
    result.assumed = completion.take();
    result.assumed.insert(result.assumed.end(), ignored.begin(), ignored.end());
    return result;
}

}  // namespace gputomo::sim
