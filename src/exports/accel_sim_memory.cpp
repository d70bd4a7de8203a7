// Options of clocks, caches, shared memory and DRAM.
#include "exports/accel_sim_option.hpp"

#include "machine/cache_scope.hpp"

#include <array>
#include <bit>

namespace gputomo::exports::gpgpu {
namespace {

/// Bytes of a request between the L1, the L2 and DRAM in the simulator.
constexpr double kRequestBytes = 32;
/// Counts of memory partitions for which the simulator can spread addresses by a polynomial.
constexpr std::array<std::int64_t, 3> kSpreadPartitions = {16, 32, 64};
constexpr std::int64_t kMaxwell = 5;

/// Memory partitions, and L2 slices of each.
struct Partitions {
    std::int64_t channels = 0, slices_of_channel = 2;
    [[nodiscard]] std::int64_t slices() const { return channels * slices_of_channel; }
};

Partitions partitions(Option& option) {
    Partitions made{.channels = option.integer_or(
                        "memory.channels", 32,
                        "a number for which the simulator can spread addresses; the clocks hold the bandwidths")};
    if (made.channels < 1) made.channels = 1;
    return made;
}

/// type:sets:line:ways,replacement:write:allocation:write allocation:index,MSHR kind:entries:merge,queue:0,port
struct Geometry {
    std::int64_t sets = 0, line = 0, ways = 0;
};

char index_letter(Option& option, const std::string& path, std::int64_t sets, bool is_l2) {
    if (option.text(path, "modulo") != "hash") return 'L';
    const bool spreads = is_l2 || std::ranges::find(kSpreadPartitions, sets) != kSpreadPartitions.end();
    if (spreads && std::ranges::find(kSpreadPartitions, sets) != kSpreadPartitions.end()) {
        option.assume("the simulator's polynomial stands in for the hash");
        return 'P';
    }
    option.assume("the simulator's exclusive-or of address bits stands in for the hash");
    return 'X';
}

std::string cache_text(const Machine& machine, Option& option, const std::string& cache, const Geometry& geometry,
                       bool is_l2) {
    const auto leaf = [&](std::string_view name) { return leaf_of("caches", cache, name); };
    const auto policy = option.text(leaf("policy"), "lru");
    if (policy != "lru" && policy != "fifo")
        option.assume(fmt::format("the simulator has no policy '{}'; LRU stands in its place", policy));
    const auto written = option.text(leaf("write_policy"), is_l2 ? "write-back" : "write-through");
    const auto sector = option.integer_or(leaf("sector"), std::llround(kRequestBytes), "as on other GPUs");
    const bool is_new = machine.identity.compute_capability_major.value_or(0) >= kMaxwell;
    const bool sectored = sector < geometry.line && geometry.line == 4 * std::llround(kRequestBytes);
    if (sectored && sector != std::llround(kRequestBytes))
        option.assume(fmt::format("the simulator knows sectors of {} bytes only", kRequestBytes));
    const auto entries = option.has(leaf("outstanding_entries")) ? option.integer(leaf("outstanding_entries"))
                         : option.has(leaf("outstanding_at_least"))
                             ? option.integer(leaf("outstanding_at_least"))
                             : option.integer_or(leaf("outstanding_entries"), is_l2 ? 192 : 512, kAsTested);
    const auto merge = option.integer_or(leaf("outstanding_merge"), is_new ? 64 : 8, kAsTested);
    const char index = index_letter(option, leaf("index"), geometry.sets, is_l2);
    option.assume("writes allocate a line, and the rest of it is fetched when it is read");
    return fmt::format("{}:{}:{}:{},{}:{}:m:L:{},A:{}:{},{}:0,32", sectored ? 'S' : 'N', geometry.sets, geometry.line,
                       geometry.ways, policy == "fifo" ? 'F' : 'L', written == "write-back" ? 'B' : 'T', index, entries,
                       merge, is_l2 ? 32 : 16);
}

/// The simulator takes the shared memory of a kernel from the ways of the L1. Few ways would make it take large steps.
std::string unified_l1(const Machine& machine, const std::string& cache) {
    constexpr std::int64_t kSets = 64, kKibi = 1024;
    std::string out;
    Option options(machine, "-gpgpu_shmem_option");
    std::vector<std::int64_t> kibibytes;
    if (const auto leaf = machine::get_leaf(machine, "shared.capacity_options");
        leaf && leaf->knowledge == machine::Knowledge::known) {
        for (const auto bytes : machine.shared.capacity_options.value_or({}))
            kibibytes.push_back((bytes + kKibi - 1) / kKibi);
        options.deduce(fmt::format("shared.capacity_options in KiB, rounded up: {}", leaf->provenance.method));
    } else {
        kibibytes = {0, options.integer("shared.capacity") / kKibi};
        options.assume("all or nothing of it");
    }
    std::ranges::sort(kibibytes);
    out += options.line(fmt::format("{}", fmt::join(kibibytes, ",")));
    out += assumed(machine, "-gpgpu_adaptive_cache_config", "1", "the description has shared memory in the L1");
    const auto leaf = [&](std::string_view name) { return leaf_of("caches", cache, name); };
    Option size(machine, "-gpgpu_unified_l1d_size"), geometry(machine, "-gpgpu_cache:dl1");
    std::int64_t line = 0, ways = 0;
    for (Option* const option : {&size, &geometry}) {
        const auto largest = option->integer(leaf("capacity")) + (kibibytes.empty() ? 0 : kibibytes.front() * kKibi);
        line = std::max<std::int64_t>(1, option->integer(leaf("line")));
        ways = (largest + kSets * line - 1) / (kSets * line);
        // A whole power of two, as storage has.
        ways = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(ways)));
        option->deduce(fmt::format(
            "with the least shared memory, rounded up to {} ways of {} sets: the simulator takes shared memory from "
            "the ways",
            ways, kSets));
    }
    out += size.line(kSets * line * ways / kKibi);
    return out + geometry.line(cache_text(machine, geometry, cache, {kSets, line, ways}, false));
}

}  // namespace

std::string clocks(const Machine& machine) {
    Option option(machine, "-gpgpu_clock_domains");
    const double core = option.number("clock.sm_mhz");
    const Partitions parts = partitions(option);
    const auto caches = machine::caches_on(machine, "global");
    double l2 = core;
    const std::string rate = caches.empty() ? "" : leaf_of("caches", caches.back(), "bytes_per_cycle");
    if (!rate.empty() && option.has(rate)) {
        l2 = core * option.number(rate) / (static_cast<double>(parts.slices()) * kRequestBytes);
        option.deduce(fmt::format("interconnect and L2 at the clock at which {} slices of {} bytes a cycle give that",
                                  parts.slices(), kRequestBytes));
    } else {
        option.assume("interconnect and L2 at the clock of the SMs");
    }
    const double bandwidth =
        option.number(option.first_of({"memory.read_bandwidth", "memory.peak_bandwidth", "memory.copy_bandwidth"}));
    const double dram = 1e3 * bandwidth / (static_cast<double>(parts.channels) * kRequestBytes);
    option.deduce(fmt::format("DRAM at the clock at which {} partitions of {} bytes a cycle give that", parts.channels,
                              kRequestBytes));
    return option.line(fmt::format("{:.1f}:{:.1f}:{:.1f}:{:.1f}", core, l2, l2, dram));
}

/// Accel-Sim's L2 latency excludes that of the L1, and its DRAM latency excludes that of the L2.
std::string memory_latencies(const Machine& machine) {
    const auto caches = machine::caches_on(machine, "global");
    const std::string memory = "paths.global.memory_latency";
    std::string out;
    Option dram(machine, "-dram_latency");
    const auto whole = dram.integer(memory);
    if (caches.empty()) {
        out += dram.line(less_added(dram, whole, kAdded.first + kAdded.second + kAdded.memory, 1));
        Option l2(machine, "-gpgpu_l2_rop_latency");
        l2.deduce("there is no cache whose latency this could be");
        return out + l2.line(1);
    }
    const std::string last = leaf_of("caches", caches.back(), "latency");
    const auto beyond = whole - dram.integer(last);
    dram.deduce("the first less the second");
    out += dram.line(less_added(dram, beyond, kAdded.memory, 1));
    Option l2(machine, "-gpgpu_l2_rop_latency");
    if (caches.size() < 2) return out + l2.line(less_added(l2, l2.integer(last), kAdded.first + kAdded.second, 1));
    const std::string first = leaf_of("caches", caches.front(), "latency");
    Option l1(machine, "-gpgpu_l1_latency");
    out += l1.line(less_added(l1, l1.integer(first), kAdded.first, 1));
    const auto to_l2 = l2.integer(last) - l2.integer(first);
    l2.deduce("the first less the second");
    return out + l2.line(less_added(l2, to_l2, kAdded.second, 1));
}

std::string shared_memory(const Machine& machine) {
    std::string out = copied(machine, "-gpgpu_shmem_size", "shared.capacity");
    out += copied(machine, "-gpgpu_shmem_sizeDefault", "shared.capacity");
    out += copied(machine, "-gpgpu_shmem_per_block", "shared.max_per_block");
    out += copied(machine, "-gpgpu_shmem_num_banks", "shared.banks");
    Option latency(machine, "-gpgpu_smem_latency");
    out += latency.line(less_added(latency, latency.integer("shared.latency"), kAdded.shared, 1));
    out += assumed(machine, "-gpgpu_shmem_limited_broadcast", "0", "a load gives any word to any number of threads");
    Option parts(machine, "-gpgpu_shmem_warp_parts");
    const auto warp = parts.integer_or("topology.warp_size", 32, "as on all GPUs");
    const auto group = std::max<std::int64_t>(
        1, parts.integer_or("shared.access_group", 32, "the threads of a warp access shared memory together"));
    parts.deduce("the first over the second");
    out += parts.line(std::max<std::int64_t>(1, warp / group));
    Option coalescing(machine, "-gpgpu_coalesce_arch");
    const auto major = coalescing.integer("identity.compute_capability_major"),
               minor = coalescing.integer("identity.compute_capability_minor");
    coalescing.deduce("13 or more, as the simulator knows no earlier rules");
    return out + coalescing.line(std::max<std::int64_t>(13, 10 * major + minor));
}

std::string l1(const Machine& machine) {
    const auto names = machine::caches_on(machine, "global");
    if (names.size() < 2)
        return "\n# deduced: loads of global memory go to the L2, or to memory\n-gpgpu_gmem_skip_L1D 1\n"
               "\n# deduced: the same\n-gpgpu_cache:dl1 none\n";
    const std::string& cache = names.front();
    std::string out = assumed(machine, "-gpgpu_gmem_skip_L1D", "0", "loads of global memory go through the L1");
    if (machine.shared.unified_cache.value_or("") == cache) {
        out += unified_l1(machine, cache);
    } else {
        Option option(machine, "-gpgpu_cache:dl1");
        const auto leaf = [&](std::string_view name) { return leaf_of("caches", cache, name); };
        const Geometry geometry{.sets = option.integer(leaf("sets")),
                                .line = option.integer(leaf("line")),
                                .ways = option.integer(leaf("ways"))};
        out += option.line(cache_text(machine, option, cache, geometry, false));
    }
    Option banks(machine, "-gpgpu_l1_banks");
    const auto bytes = banks.number_or(leaf_of("caches", cache, "bytes_per_cycle"), 4 * kRequestBytes,
                                       "as many as shared memory on GPUs where both are one");
    banks.deduce(fmt::format("{} bytes a cycle each, as a power of two", kRequestBytes));
    out += banks.line(static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(std::max(1.0, std::round(bytes / kRequestBytes))))));
    out += assumed(machine, "-gpgpu_l1_cache_write_ratio", "25", kAsTested);
    return out + assumed(machine, "-gpgpu_flush_l1_cache", "1", "the L1 is empty when a kernel starts");
}

std::string l2(const Machine& machine) {
    Option channels(machine, "-gpgpu_n_mem");
    const Partitions parts = partitions(channels);
    std::string out = channels.line(parts.channels);
    out +=
        assumed(machine, "-gpgpu_n_sub_partition_per_mchannel", fmt::format("{}", parts.slices_of_channel), kAsTested);
    Option spread(machine, "-gpgpu_memory_partition_indexing");
    const bool spreads = std::ranges::find(kSpreadPartitions, parts.slices()) != kSpreadPartitions.end();
    spread.assume(spreads ? "a polynomial spreads addresses over partitions"
                          : "partitions take turns: the simulator spreads addresses over 16, 32 or 64 slices only");
    out += spread.line(spreads ? 2 : 0);
    const auto names = machine::caches_on(machine, "global");
    if (names.empty())
        return out +
               "\n# deduced: global memory has no caches\n-gpgpu_cache:dl2 none\n"
               "\n# deduced: the same\n-gpgpu_cache:dl2_texture_only 1\n";
    const std::string& cache = names.back();
    const auto leaf = [&](std::string_view name) { return leaf_of("caches", cache, name); };
    Option option(machine, "-gpgpu_cache:dl2");
    Geometry geometry{.line = option.integer_or(leaf("line"), 128, "as on other GPUs")};
    if (option.has(leaf("sets")) && option.has(leaf("ways")) && option.integer(leaf("sets")) % parts.slices() == 0 &&
        std::has_single_bit(static_cast<std::uint64_t>(option.integer(leaf("sets")) / parts.slices()))) {
        geometry.sets = option.integer(leaf("sets")) / parts.slices();
        geometry.ways = option.integer(leaf("ways"));
        option.deduce(fmt::format("the sets of one of {} slices", parts.slices()));
    } else {
        constexpr std::int64_t kLeastWays = 16;
        const auto sides = option.integer_or(leaf("partitions"), 1, "as nothing says otherwise");
        const auto lines = option.integer(leaf("capacity")) * std::max<std::int64_t>(1, sides) /
                           std::max<std::int64_t>(1, geometry.line) / parts.slices();
        geometry.sets = static_cast<std::int64_t>(
            std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, lines / kLeastWays))));
        geometry.ways = std::max<std::int64_t>(1, lines / geometry.sets);
        option.deduce(fmt::format("{} lines in each of {} slices; the sets are a power of two with {} ways or more",
                                  lines, parts.slices(), kLeastWays));
    }
    out += option.line(cache_text(machine, option, cache, geometry, true));
    return out + assumed(machine, "-gpgpu_cache:dl2_texture_only", "0", "all accesses go through the L2");
}

}  // namespace gputomo::exports::gpgpu
