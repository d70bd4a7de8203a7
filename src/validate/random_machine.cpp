#include "validate/random_machine.hpp"

#include "units/warp.hpp"
#include "validate/dice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gputomo::validate {
namespace {

using machine::Machine;

constexpr std::int64_t kKiB = 1 << 10;
constexpr std::int64_t kMiB = 1 << 20;
/// Smallest difference in latency between neighbouring levels, in cycles: two steps of the coarsest clock that is
/// drawn.
constexpr std::int64_t kLevelStep = 8;
constexpr std::int64_t kWarp = kWarpSize;
/// First major compute capability with virtual memory management (cuMemMap), so with pages of 2 MiB.
constexpr std::int64_t kMappingSince = 6;
/// Largest reach of the first TLB, unless larger caches require more. A scan has to access several times the reach of
/// the second TLB, so a larger value takes longer to simulate.
constexpr std::int64_t kLargestFirstReach = 16 * kMiB;

/// Each group of leaves that was added later has dice of its own. So a seed kept the machine that it had before, apart
/// from the new leaves. The constants make the dice differ. Any distinct numbers would do, but others would change the
/// machine of every seed. Paths of constants, textures and instructions:
constexpr std::uint64_t kOfPaths = 0x9e37'79b9'7f4a'7c15;
/// Pauses of the memory:
constexpr std::uint64_t kOfPauses = 0xd6e8'feb8'6659'fd93;
/// Pipelines that schedulers share:
constexpr std::uint64_t kOfUnits = 0xbf58'476d'1ce4'e5b9;
/// Results that are forwarded:
constexpr std::uint64_t kOfForwarding = 0x94d0'49bb'1331'11eb;

/// Draws one machine. The source of all its leaves is the seed.
class Maker {
public:
    explicit Maker(std::uint64_t seed)
        : dice_(seed),
          later_dice_(~seed),
          path_dice_(seed ^ kOfPaths),
          unit_dice_(seed ^ kOfUnits),
          forward_dice_(seed ^ kOfForwarding),
          pause_dice_(seed ^ kOfPauses),
          seed_(seed),
          source_(fmt::format("random machine, seed {}", seed)) {}

    Machine make() {
        identity_and_topology();
        clock();
        issue_and_arithmetic();
        shared();
        caches();
        tlbs();
        path_and_memory();
        pauses();
        constant_path();
        texture_path();
        instruction_path();
        launch();
        divergence();
        return std::move(machine_);
    }

private:
    template <class T>
    void set(machine::Field<T>& field, std::type_identity_t<T> value) {
        field.set(std::move(value), {.source = source_});
    }

    void identity_and_topology();
    void clock();
    void issue_and_arithmetic();
    void control_flow();
    void operation(const std::string& key, const std::string& unit, std::int64_t instructions);
    void shared();
    void caches();
    void cache(Dice& dice, const std::string& key, std::int64_t low, std::int64_t high, std::int64_t line,
               std::int64_t least_ways);
    void constant_path();
    void texture_path();
    void instruction_path();
    /// Draws a cache of a path of constants, textures or instructions. `scope` is as on the GPUs so far.
    void path_cache(const std::string& key, const std::string& scope, std::int64_t low, std::int64_t high,
                    std::int64_t line, std::int64_t latency);
    /// Describes a path with these caches. The latency of its memory is that of global loads or higher.
    void path(const std::string& name, const std::vector<std::string>& keys);
    [[nodiscard]] std::string near_scope();
    void tlbs();
    void tlb(const std::string& key, std::int64_t entries, std::int64_t ways, std::int64_t span);
    void path_and_memory();
    void pauses();
    void launch();
    void divergence();

    static std::string policy(Dice& dice, std::int64_t ways) {
        static constexpr std::array<std::string_view, 3> kOthers{"fifo", "random", "tree-plru"};
        if (ways == 1 || dice.chance(75)) return "lru";
        const auto other = dice.one_of(kOthers);
        const bool power_of_two = std::has_single_bit(static_cast<std::uint64_t>(ways));
        return std::string(other == "tree-plru" && !power_of_two ? "fifo" : other);
    }

    Dice dice_;
    /// For leaves that were added later, so that the other leaves of a seed stay what they were.
    Dice later_dice_, path_dice_, unit_dice_, forward_dice_, pause_dice_;
    std::uint64_t seed_;
    std::string source_;
    Machine machine_;
    std::int64_t clusters_ = 1;
};

void Maker::identity_and_topology() {
    struct Generation {
        std::int64_t major, minor;
        std::string_view name, divergence;
    };
    static constexpr std::array kGenerations{
        Generation{1, 3, "gt200", "stack"},        Generation{2, 0, "fermi", "stack"},
        Generation{3, 5, "kepler", "stack"},       Generation{5, 2, "maxwell", "stack"},
        Generation{6, 0, "pascal", "stack"},       Generation{7, 0, "volta", "independent"},
        Generation{8, 0, "ampere", "independent"}, Generation{9, 0, "hopper", "independent"}};
    const auto generation = dice_.one_of(kGenerations);
    auto& identity = machine_.identity;
    set(identity.name, fmt::format("Random GPU {}", seed_));
    set(identity.architecture, std::string(generation.name));
    set(identity.compute_capability_major, generation.major);
    set(identity.compute_capability_minor, generation.minor);
    set(machine_.issue.divergence, std::string(generation.divergence));

    auto& topology = machine_.topology;
    const auto sms_per_tpc = dice_.between(1, 3);
    clusters_ = dice_.between(1, 16 / sms_per_tpc);
    const auto threads_per_block = dice_.chance(30) ? 512 : 1024;
    set(topology.sms, clusters_ * sms_per_tpc);
    set(topology.sms_per_tpc, sms_per_tpc);
    set(topology.warp_size, kWarp);
    set(topology.max_threads_per_block, threads_per_block);
    set(topology.max_threads_per_sm, threads_per_block * dice_.between(2, threads_per_block == 512 ? 3 : 2));
    set(topology.max_blocks_per_sm, dice_.one_of(std::array<std::int64_t, 3>{8, 16, 32}));
    set(topology.registers_per_sm, dice_.one_of(std::array<std::int64_t, 3>{16, 32, 64}) * kKiB);
    set(topology.register_allocation_unit, dice_.one_of(std::array<std::int64_t, 2>{4, 8}));
    set(topology.max_registers_per_thread, dice_.one_of(std::array<std::int64_t, 3>{63, 128, 255}));
    set(topology.thread_allocation_unit, later_dice_.one_of(std::array<std::int64_t, 3>{32, 64, 128}));
    set(topology.register_partitions, later_dice_.one_of(std::array<std::int64_t, 3>{1, 2, 4}));
}

void Maker::clock() {
    auto& clock = machine_.clock;
    const auto resolution = dice_.chance(60) ? 1 : dice_.chance(70) ? 2 : 4;
    set(clock.sm_mhz, static_cast<double>(dice_.between(600, 2000)));
    set(clock.resolution, resolution);
    set(clock.read_cost, resolution * dice_.between(8 / resolution, 40 / resolution));
    // A cluster of a single SM counts as scope "sm", and a single cluster as scope "gpu".
    const auto scope = dice_.one_of(std::array<std::string_view, 3>{"sm", "tpc", "gpu"});
    const auto per_tpc = *machine_.topology.sms_per_tpc;
    const auto shared_by = scope == "sm" ? 1 : scope == "tpc" ? per_tpc : *machine_.topology.sms;
    set(clock.scope, shared_by == *machine_.topology.sms ? "gpu" : shared_by == 1 ? "sm" : "tpc");
}

void Maker::issue_and_arithmetic() {
    /// Lanes of the main pipeline, and the schedulers that feed them.
    struct Width {
        std::int64_t lanes, schedulers, interval, dual;
    };
    static constexpr std::array kWidths{Width{8, 1, 2, 1},  Width{16, 1, 2, 1},  Width{16, 1, 1, 1},
                                        Width{32, 1, 1, 1}, Width{32, 2, 2, 1},  Width{64, 2, 1, 1},
                                        Width{64, 4, 1, 1}, Width{128, 4, 1, 1}, Width{192, 4, 1, 2}};
    const auto width = dice_.one_of(kWidths);
    auto& issue = machine_.issue;
    set(issue.schedulers_per_sm, width.schedulers);
    set(issue.issue_interval, static_cast<double>(width.interval));
    set(issue.dual_issue, width.dual);
    set(issue.first_path, std::string(dice_.chance(50) ? "taken" : "fall-through"));
    set(issue.barrier_latency, dice_.between(10, 50));

    // The instructions of a multiplication depend on each other, so only other warps hide their latency. Experiments
    // run it in a single block, so the warps of one block must suffice.
    const std::int64_t multiply = dice_.chance(60) || width.dual > 1 ? 1 : dice_.between(2, 4);
    const auto warps =
        (multiply == 1 ? *machine_.topology.max_threads_per_sm : *machine_.topology.max_threads_per_block) / kWarp;
    std::int64_t shortest = 60;
    const auto pipeline = [&](const char* name, std::int64_t lanes) {
        // Little's law: `warps` warps hide at most this latency.
        const auto longest = std::min<std::int64_t>(60, std::max<std::int64_t>(4, warps * kWarp * 4 / 5 / lanes));
        // The last thread of a warp enters the pipeline this many cycles after the first.
        const auto entering = (kWarp * width.schedulers + lanes - 1) / lanes;
        const auto latency = std::max(entering, dice_.between(std::min<std::int64_t>(longest, 4), longest));
        shortest = std::min(shortest, latency);
        set(machine_.pipelines[name].lanes, static_cast<double>(lanes));
        set(machine_.pipelines[name].latency, latency);
    };
    pipeline("sp", width.lanes);
    pipeline("sfu", std::max<std::int64_t>(2, width.lanes / dice_.one_of(std::array<std::int64_t, 3>{4, 8, 16})));
    pipeline("dpu", std::max<std::int64_t>(1, width.lanes / dice_.one_of(std::array<std::int64_t, 4>{2, 3, 8, 32})));
    set(issue.ilp_latency, dice_.between(1, std::max<std::int64_t>(1, shortest / 2)));
    control_flow();
    if (width.schedulers > 1)
        for (const char* name : {"sfu", "dpu"})
            set(machine_.pipelines[name].scope, unit_dice_.chance(50) ? "sm" : "scheduler");

    for (const char* key : {"add.s32", "add.f32", "mul.f32", "fma.rn.f32"}) operation(key, "sp", 1);
    operation("mul.lo.s32", "sp", multiply);
    operation("mad.lo.s32", "sp", multiply == 1 ? 1 : multiply + 1);
    for (const char* key : {"add.f64", "mul.f64", "fma.rn.f64"}) operation(key, "dpu", 1);
    operation("rsqrt.approx.f32", "sfu", 1);
    auto& sfu = machine_.pipelines["sfu"];
    // The result of a warp is ready when that of its last thread is.
    const auto entering =
        static_cast<std::int64_t>(std::ceil(kWarp * static_cast<double>(width.schedulers) / *sfu.lanes));
    set(sfu.forward_latency, std::max({entering, *issue.ilp_latency, *sfu.latency + forward_dice_.between(-6, 3)}));
}

void Maker::control_flow() {
    auto& issue = machine_.issue;
    const bool independent = *issue.divergence == "independent";
    // A latency below the interval at which a warp may issue would not show.
    const auto least = std::max(*issue.ilp_latency, static_cast<std::int64_t>(*issue.issue_interval));
    set(issue.reconvergence, "post-dominator");
    set(issue.spin_within_warp, independent ? "completes" : "deadlocks");
    set(issue.barrier_latency, std::max(*issue.barrier_latency, least));
    set(issue.barrier_granularity, independent || later_dice_.chance(20) ? "thread" : "warp");
    if (independent) set(issue.warp_barrier_latency, later_dice_.between(least, 40));
    set(issue.branch_latency_taken, later_dice_.between(least, 40));
    set(issue.branch_latency_untaken, later_dice_.between(least, *issue.branch_latency_taken));
}

void Maker::operation(const std::string& key, const std::string& unit, std::int64_t instructions) {
    const auto& pipeline = machine_.pipelines.at(unit);
    auto& operation = machine_.operations[key];
    set(operation.latency, *pipeline.latency * instructions);
    set(operation.throughput, *pipeline.lanes / static_cast<double>(instructions));
    set(operation.instructions, instructions);
    set(operation.units, {unit});
}

void Maker::shared() {
    auto& shared = machine_.shared;
    const auto usual_banks = dice_.chance(30) ? 16 : 32;
    const auto width = dice_.chance(75) ? 4 : 8;
    const bool usual = !later_dice_.chance(20);
    const auto banks = usual ? usual_banks : later_dice_.one_of(std::array{8, 12, 24, 64});
    const auto rate = banks * width / (dice_.chance(30) ? 2 : 1);
    const auto capacity = dice_.one_of(std::array<std::int64_t, 4>{16, 48, 64, 96}) * kKiB;
    set(shared.capacity, capacity);
    set(shared.max_per_block, std::min(capacity, 48 * kKiB));
    set(shared.allocation_unit, dice_.one_of(std::array<std::int64_t, 3>{128, 256, 512}));
    set(shared.block_overhead, later_dice_.one_of(std::array<std::int64_t, 3>{0, 16, 1024}));
    set(shared.argument_overhead, later_dice_.chance(50) ? 0 : 4);
    set(shared.banks, banks);
    set(shared.bank_width, width);
    set(shared.row_words, later_dice_.chance(20) ? 2 : 1);
    // A group of more words than there are banks would always conflict, and no access would show the full rate.
    auto group = usual ? banks : later_dice_.one_of(std::array{8, 16, 32});
    while (group * 4 > banks * width) group /= 2;
    set(shared.access_group, group);
    set(shared.latency, dice_.between(15, 60));
    set(shared.forward_latency, std::max(*machine_.issue.ilp_latency, *shared.latency + forward_dice_.between(-6, 3)));
    set(shared.bytes_per_cycle, static_cast<double>(rate));
    // A further way of a conflict costs a warp at least the time for which it occupies the banks.
    const auto busy = (kWarp * 4 + rate - 1) / rate;
    set(shared.conflict_cost, busy * dice_.one_of(std::array<std::int64_t, 4>{1, 2, 4, 8}));
}

void Maker::cache(Dice& dice, const std::string& key, std::int64_t low, std::int64_t high, std::int64_t line,
                  std::int64_t least_ways) {
    const auto aimed = dice.octaves(low, high);
    const auto ways = dice.chance(50) ? least_ways * dice.one_of(std::array<std::int64_t, 5>{1, 2, 4, 8, 16})
                                      : dice.between(least_ways, 24);
    const auto least = static_cast<std::uint64_t>((low + line * ways - 1) / (line * ways));
    auto sets = std::max(least, static_cast<std::uint64_t>(aimed / line / ways));
    if (dice.chance(75)) sets = std::bit_floor(sets) < least ? std::bit_ceil(sets) : std::bit_floor(sets);
    const std::int64_t sectors = line >= 64 && dice.chance(30) ? (line >= 128 && dice.chance(50) ? 4 : 2) : 1;
    auto& cache = machine_.caches[key];
    set(cache.capacity, static_cast<std::int64_t>(sets) * ways * line);
    set(cache.line, line);
    set(cache.sector, line / sectors);
    set(cache.ways, ways);
    set(cache.sets, static_cast<std::int64_t>(sets));
    set(cache.index, "modulo");
    set(cache.policy, policy(dice, ways));
}

void Maker::caches() {
    static constexpr std::array<std::int64_t, 5> kLines{16, 32, 64, 128, 256};
    // Caches that all SMs share have had at least 4 ways and lines of at least 32 bytes since Fermi's L2.
    static constexpr std::array<std::int64_t, 4> kSharedLines{32, 64, 128, 256};
    constexpr std::int64_t kLeastSharedWays = 4;
    const auto levels = dice_.between(0, 2);
    std::vector<std::string> keys;
    if (levels >= 1) {
        const bool private_to_sm = levels == 2 || dice_.chance(50);
        cache(dice_, "l1", kKiB, private_to_sm ? 128 * kKiB : 4 * kMiB,
              private_to_sm ? dice_.one_of(kLines) : dice_.one_of(kSharedLines), private_to_sm ? 1 : kLeastSharedWays);
        set(machine_.caches["l1"].scope, private_to_sm ? "sm" : "gpu");
        set(machine_.caches["l1"].latency, dice_.between(20, 120));
        keys.emplace_back("l1");
    }
    if (levels == 2) {
        const auto& l1 = machine_.caches.at("l1");
        const auto line = std::min<std::int64_t>(256, *l1.line * (dice_.chance(70) ? 1 : 2));
        cache(dice_, "l2", *l1.capacity * 4, 4 * kMiB, std::max<std::int64_t>(32, line), kLeastSharedWays);
        set(machine_.caches["l2"].scope, "gpu");
        set(machine_.caches["l2"].latency, *l1.latency + dice_.octaves(kLevelStep, 150));
        keys.emplace_back("l2");
    }
    set(machine_.paths["global"].caches, keys);
}

void Maker::tlb(const std::string& key, std::int64_t entries, std::int64_t ways, std::int64_t span) {
    auto& tlb = machine_.tlbs[key];
    set(tlb.scope, key == "global_l1" ? "sm" : "gpu");
    set(tlb.reach, entries * span);
    set(tlb.entries, entries);
    set(tlb.ways, ways);
    set(tlb.sets, entries / ways);
    set(tlb.span, span);
    set(tlb.page, std::min(span, dice_.one_of(std::array<std::int64_t, 2>{4 * kKiB, 64 * kKiB})));
    set(tlb.miss_penalty, dice_.octaves(kLevelStep, 300));
    set(tlb.policy, dice_.chance(90) ? "lru" : "fifo");
}

void Maker::tlbs() {
    // GPUs with virtual memory management map memory in pages of 2 MiB, and a TLB entry spans one or several of them.
    static constexpr std::array<std::int64_t, 5> kSmallSpans{4 * kKiB, 64 * kKiB, 128 * kKiB, 512 * kKiB, 2 * kMiB};
    static constexpr std::array<std::int64_t, 5> kLargeSpans{2 * kMiB, 2 * kMiB, 4 * kMiB, 16 * kMiB, 32 * kMiB};
    const bool large_pages = *machine_.identity.compute_capability_major >= kMappingSince;
    std::int64_t largest_cache = 128 * kKiB;
    for (const auto& [key, cache] : machine_.caches) largest_cache = std::max(largest_cache, *cache.capacity);
    // The first TLB reaches beyond the data caches; otherwise their misses would hide its misses.
    const bool fully_associative = dice_.chance(60);
    const auto ways = fully_associative ? dice_.between(8, 32) : dice_.one_of(std::array<std::int64_t, 3>{4, 8, 16});
    const auto entries = ways * (fully_associative ? 1 : std::int64_t{1} << dice_.between(1, 3));
    auto span = dice_.one_of(large_pages ? kLargeSpans : kSmallSpans);
    while (!large_pages && entries * span > kLargestFirstReach) span /= 2;
    while (entries * span < 2 * largest_cache) span *= 2;
    tlb("global_l1", entries, ways, span);
    std::vector<std::string> keys{"global_l1"};
    if (dice_.chance(60)) {
        const auto finer = large_pages || dice_.chance(75) ? 1 : dice_.one_of(std::array<std::int64_t, 2>{2, 8});
        const auto ways2 = dice_.one_of(std::array<std::int64_t, 4>{4, 6, 8, 16});
        std::int64_t sets = 1;
        while (ways2 * sets < 4 * entries * finer) sets *= 2;
        tlb("global_l2", ways2 * sets, ways2, span / finer);
        keys.emplace_back("global_l2");
    }
    set(machine_.paths["global"].tlbs, keys);
}

void Maker::path_and_memory() {
    auto& path = machine_.paths["global"];
    std::int64_t last = 0;
    for (const auto& [key, cache] : machine_.caches) last = std::max(last, *cache.latency);
    // Half the spread of the latency over SMs. It takes three clusters: one has no spread, and two have no middle one.
    const auto spread = clusters_ < 3 ? 0 : dice_.between(0, 6);
    const auto latency = std::max(dice_.between(200, 900), last + kLevelStep + spread);
    set(path.memory_latency, latency);
    set(path.memory_latency_range, {latency - spread, latency + spread});
    const bool has_private_cache = machine_.caches.contains("l1") && *machine_.caches.at("l1").scope == "sm";
    set(path.tlb_position, has_private_cache && dice_.chance(30) ? "after-first-cache" : "before-caches");

    auto& memory = machine_.memory;
    const auto group = *machine_.shared.access_group;
    set(memory.coalescing_group, group);
    set(memory.transaction_sizes, {32, 64, 128});
    set(memory.channels, dice_.between(2, 8));
    // 2 to 8 bytes a cycle for each SM, which the resident warps can keep in flight over the latency above.
    const double per_sm = dice_.share(2, 8);
    const double read =
        std::round(per_sm * static_cast<double>(*machine_.topology.sms) * *machine_.clock.sm_mhz / 100) / 10;
    set(memory.read_bandwidth, read);
    set(memory.peak_bandwidth, std::round(read / dice_.share(0.8, 0.97) * 10) / 10);
    set(memory.copy_bandwidth, std::round(read * dice_.share(0.85, 0.98) * 10) / 10);
}

/// Every second machine has pauses of the whole memory. A pause lasts from a quarter of the memory latency to twice
/// that, and pauses take 1 to 4% of the time.
void Maker::pauses() {
    auto& memory = machine_.memory;
    if (pause_dice_.chance(50)) {
        for (auto* leaf : {&memory.pause_interval, &memory.pause_time}) {
            leaf->knowledge = machine::Knowledge::absent;
            leaf->provenance.source = source_;
        }
        return;
    }
    const auto latency = *machine_.paths["global"].memory_latency;
    const auto cycles = pause_dice_.between(latency / 4, 2 * latency);
    const auto interval = std::max(cycles * pause_dice_.between(25, 50), 20 * latency);
    const auto nanoseconds = [&](std::int64_t of) {
        return std::round(static_cast<double>(of) * 1000 / *machine_.clock.sm_mhz);
    };
    set(memory.pause_time, nanoseconds(cycles));
    set(memory.pause_interval, nanoseconds(interval));
}

std::string Maker::near_scope() {
    // With one cluster the scope is the whole GPU; with one SM per cluster it is the SM.
    if (clusters_ == 1) return "gpu";
    return *machine_.topology.sms_per_tpc > 1 && path_dice_.chance(50) ? "tpc" : "sm";
}

void Maker::path_cache(const std::string& key, const std::string& scope, std::int64_t low, std::int64_t high,
                       std::int64_t line, std::int64_t latency) {
    constexpr std::int64_t kLeastWays = 2;
    cache(path_dice_, key, low, std::max(low, high), line, kLeastWays);
    auto& cache = machine_.caches.at(key);
    set(cache.scope, scope);
    set(cache.latency, latency);
    // The cache before this one requests whole lines, and so does instruction fetch. Shorter sectors would never show.
    if (!key.ends_with("l1") || key == "instruction_l1") set(cache.sector, *cache.line);
}

void Maker::path(const std::string& name, const std::vector<std::string>& keys) {
    auto& path = machine_.paths[name];
    const std::int64_t global = *machine_.paths.at("global").memory_latency;
    const std::int64_t last = keys.empty() ? 0 : *machine_.caches.at(keys.back()).latency;
    set(path.caches, keys);
    set(path.memory_latency, std::max(global, last + 2 * kLevelStep));
}

void Maker::constant_path() {
    static constexpr std::array<std::int64_t, 2> kNearLines{64, 128};
    static constexpr std::array<std::int64_t, 3> kLines{64, 128, 256};
    const auto levels = path_dice_.between(0, 3);
    std::vector<std::string> keys;
    // A dependent load cannot issue sooner than the next instruction of its warp.
    const auto soonest =
        std::max(*machine_.issue.ilp_latency, static_cast<std::int64_t>(*machine_.issue.issue_interval));
    std::int64_t latency = std::max(soonest, path_dice_.between(4, 60)), low = kKiB,
                 line = path_dice_.one_of(kNearLines);
    for (std::int64_t level = 1; level <= levels; ++level) {
        keys.push_back(fmt::format("constant_l{}", level));
        const bool last = level == 3;
        path_cache(keys.back(),
                   last                          ? "gpu"
                   : level == 1 && clusters_ > 1 ? "sm"
                                                 : near_scope(),
                   low,
                   last         ? 40 * kKiB
                   : level == 2 ? 12 * kKiB
                                : 3 * kKiB,
                   line, latency);
        // No cache of a smaller scope follows one of the whole GPU.
        if (*machine_.caches.at(keys.back()).scope == "gpu") break;
        low = *machine_.caches.at(keys.back()).capacity * 2;
        line = std::max(line, path_dice_.one_of(kLines));
        latency += path_dice_.octaves(kLevelStep, 120);
    }
    path("constant", keys);
}

void Maker::texture_path() {
    static constexpr std::array<std::int64_t, 3> kNearLines{32, 64, 128};
    const auto levels = path_dice_.between(0, 2);
    std::vector<std::string> keys;
    const auto line = path_dice_.one_of(kNearLines);
    const auto latency = path_dice_.between(40, 150);
    if (levels > 0) {
        path_cache("texture_l1", near_scope(), 4 * kKiB, 32 * kKiB, line, latency);
        keys.emplace_back("texture_l1");
    }
    if (levels > 1) {
        path_cache("texture_l2", "gpu", 4 * *machine_.caches.at("texture_l1").capacity, 512 * kKiB,
                   std::max<std::int64_t>(line, path_dice_.chance(50) ? 256 : 32),
                   latency + path_dice_.octaves(kLevelStep, 150));
        keys.emplace_back("texture_l2");
    }
    path("texture", keys);
}

void Maker::instruction_path() {
    // Dual issue needs both instructions of a pair to be fetched. The simulator does not model what that costs, so
    // these machines have no instruction caches.
    if (*machine_.issue.dual_issue > 1) return;
    static constexpr std::array<std::int64_t, 2> kLines{128, 256};
    constexpr std::int64_t kLongSince = 7;
    const std::int64_t instruction = *machine_.identity.compute_capability_major >= kLongSince ? 16 : 8;
    // The pipeline hides fetches from the first cache. The unrolled loops of experiments fit it: the simulator does not
    // prefetch, so fetches of straight code from farther levels show, which a GPU hides.
    path_cache("instruction_l1", clusters_ > 1 ? "sm" : "gpu", instruction * kKiB, 3 * instruction * kKiB,
               path_dice_.one_of(kLines), 0);
    std::vector<std::string> keys{"instruction_l1"};
    // The further levels are those of the constant path, or there are none.
    const auto& constant = *machine_.paths.at("constant").caches;
    if (path_dice_.chance(70) && *machine_.caches.at("instruction_l1").scope == "sm")
        for (std::size_t i = 1; i < constant.size(); ++i)
            if (*machine_.caches.at(constant[i]).capacity >= 2 * *machine_.caches.at("instruction_l1").capacity)
                keys.push_back(constant[i]);
    path("instruction", keys);
    // A cache that two paths share misses to the same memory, so the latencies agree.
    set(machine_.paths["instruction"].memory_latency,
        std::max(*machine_.paths.at("instruction").memory_latency, *machine_.paths.at("constant").memory_latency));
    set(machine_.instruction_supply.instruction_bytes, instruction);
    static constexpr std::array<std::int64_t, 2> kBlocks{64, 128};
    set(machine_.instruction_supply.fetch_block, path_dice_.one_of(kBlocks));
}

void Maker::launch() {
    set(machine_.launch.empty_kernel, static_cast<double>(dice_.between(2000, 10000)));
    set(machine_.launch.block_replacement, dice_.between(100, 400));
}

/// Draws last, so that the other leaves of a seed stay what they were.
void Maker::divergence() { set(machine_.issue.divergence_latency, path_dice_.between(0, 60)); }

}  // namespace

machine::Machine random_machine(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace gputomo::validate
