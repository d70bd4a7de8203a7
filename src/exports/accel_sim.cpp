// Writes options of Accel-Sim and GPGPU-Sim. Each line says whether its value was measured or cited, is deduced from
// such values, or is assumed and why.
#include "exports/exports.hpp"

#include "exports/origins.hpp"
#include "machine/cache_scope.hpp"
#include "machine/json.hpp"
#include "machine/paths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

namespace gputomo::exports {
namespace {

using machine::Machine;

/// Cycles that the simulator adds to a latency on the way through a core: operands are collected, and results written
/// back. They are what chains of dependent instructions took beyond the option (docs/results/accel-sim.md).
struct AddedCycles {
    std::int64_t arithmetic = 5;  ///< units of arithmetic, from one instruction to the one that uses its result
    std::int64_t shared = 5;      ///< loads from shared memory
    std::int64_t first = 4;       ///< loads from the L1
    std::int64_t second = 5;      ///< loads from the L2, beyond those from the L1
    std::int64_t memory = 2;      ///< loads from DRAM, beyond those from the L2
};
constexpr AddedCycles kAdded;

/// Bytes of a request between the L1, the L2 and DRAM in the simulator.
constexpr double kRequestBytes = 32;
/// Counts of memory partitions for which the simulator can spread addresses by a polynomial.
constexpr std::array<std::int64_t, 3> kSpreadPartitions = {16, 32, 64};
constexpr std::int64_t kMaxwell = 5, kVolta = 7;

/// Builds one option, and collects the leaves that it reads and those that are missing.
class Option {
public:
    Option(const Machine& machine, std::string_view key) : machine_(machine), key_(key) {}

    /// The number at `path`. Where it is not known, returns 0 and marks the option as incomplete.
    double number(const std::string& path) {
        const auto leaf = known(path);
        return leaf ? results::as_number(leaf->value).value() : 0;
    }
    std::int64_t integer(const std::string& path) { return std::llround(number(path)); }
    /// The number at `path`. Where it is not known, returns `otherwise` and says so.
    double number_or(const std::string& path, double otherwise, std::string_view why) {
        if (has(path)) return number(path);
        assume(fmt::format("{} is {:g}, {}", path, otherwise, why));
        return otherwise;
    }
    std::int64_t integer_or(const std::string& path, std::int64_t otherwise, std::string_view why) {
        return std::llround(number_or(path, static_cast<double>(otherwise), why));
    }
    /// The text at `path`. Where it is not known, returns `otherwise` and says so.
    std::string text(const std::string& path, std::string_view otherwise) {
        if (has(path)) return std::get<std::string>(known(path)->value);
        assume(fmt::format("{} is {}", path, otherwise));
        return std::string(otherwise);
    }
    [[nodiscard]] bool has(const std::string& path) const {
        const auto leaf = machine::get_leaf(machine_, path);
        return leaf && leaf->knowledge == machine::Knowledge::known;
    }
    /// The first of `paths` that is known, or paths[0] where none is.
    [[nodiscard]] std::string first_of(const std::vector<std::string>& paths) const {
        const auto found = std::ranges::find_if(paths, [this](const std::string& path) { return has(path); });
        return found == paths.end() ? paths.front() : *found;
    }
    void assume(std::string_view what) { comment(fmt::format("assumed: {}", what)); }
    void deduce(std::string_view how) { comment(fmt::format("deduced: {}", how)); }

    /// The option's line below its comments, or only a comment where a leaf is missing.
    [[nodiscard]] std::string line(const std::string& value) const {
        if (!missing_.empty())
            return fmt::format("\n# {} is left out, so that the simulator's own value holds: {} not known\n", key_,
                               fmt::join(missing_, ", "));
        std::string out = "\n";
        for (const auto& comment : comments_) out += fmt::format("# {}\n", comment);
        return out + fmt::format("{} {}\n", key_, value);
    }
    [[nodiscard]] std::string line(std::int64_t value) const { return line(fmt::format("{}", value)); }

private:
    /// Adds a comment above the option, unless it has that comment already.
    void comment(std::string text) {
        std::ranges::replace(text, '\n', ' ');
        if (std::ranges::find(comments_, text) == comments_.end()) comments_.push_back(std::move(text));
    }
    std::optional<machine::Leaf> known(const std::string& path) {
        auto leaf = machine::get_leaf(machine_, path);
        if (!leaf || leaf->knowledge != machine::Knowledge::known) {
            if (std::ranges::find(missing_, path) == missing_.end()) missing_.push_back(path);
            return std::nullopt;
        }
        comment(origin_text(path, *leaf));
        return leaf;
    }

    const Machine& machine_;
    std::string key_;
    std::vector<std::string> comments_, missing_;
};

std::string leaf_of(std::string_view section, std::string_view key, std::string_view leaf) {
    return machine::join_path(section, key, leaf);
}

/// An option whose value is that of one leaf.
std::string copied(const Machine& machine, std::string_view key, const std::string& path) {
    Option option(machine, key);
    return option.line(option.integer(path));
}

/// An option that no description knows.
std::string assumed(const Machine& machine, std::string_view key, std::string_view value, std::string_view why) {
    Option option(machine, key);
    option.assume(why);
    return option.line(std::string(value));
}

constexpr std::string_view kAsTested = "as in the simulator's own configurations";

std::int64_t schedulers_of(Option& option) {
    return std::max<std::int64_t>(1, option.integer_or("issue.schedulers_per_sm", 1, "the least"));
}

std::string capability(const Machine& machine) {
    std::string out = copied(machine, "-gpgpu_compute_capability_major", "identity.compute_capability_major");
    out += copied(machine, "-gpgpu_compute_capability_minor", "identity.compute_capability_minor");
    for (const std::string_view key : {"-gpgpu_ptx_force_max_capability", "-gpgpu_occupancy_sm_number"}) {
        Option option(machine, key);
        const auto major = option.integer("identity.compute_capability_major"),
                   minor = option.integer("identity.compute_capability_minor");
        out += option.line(10 * major + minor);
    }
    return out;
}

std::string shader_core(const Machine& machine) {
    std::string out = copied(machine, "-gpgpu_n_clusters", "topology.sms");
    out += assumed(machine, "-gpgpu_n_cores_per_cluster", "1",
                   "each SM has its own port of the interconnect, so that clusters are SMs");
    out += copied(machine, "-gpgpu_shader_registers", "topology.registers_per_sm");
    out += copied(machine, "-gpgpu_registers_per_block", "topology.registers_per_sm");
    Option pipeline(machine, "-gpgpu_shader_core_pipeline");
    const auto threads = pipeline.integer("topology.max_threads_per_sm"), warp = pipeline.integer("topology.warp_size");
    out += pipeline.line(fmt::format("{}:{}", threads, warp));
    out += copied(machine, "-gpgpu_shader_cta", "topology.max_blocks_per_sm");
    out += assumed(machine, "-gpgpu_simd_model", "1", "the only model of the simulator");
    out += copied(machine, "-gpgpu_num_sched_per_core", "issue.schedulers_per_sm");
    out += copied(machine, "-gpgpu_max_insn_issue_per_warp", "issue.dual_issue");
    Option launch(machine, "-gpgpu_kernel_launch_latency");
    if (launch.has("launch.profiler_cycles")) return out + launch.line(launch.integer("launch.profiler_cycles"));
    const double nanoseconds = launch.number("launch.empty_kernel"), megahertz = launch.number("clock.sm_mhz");
    return out + launch.line(std::llround(nanoseconds * megahertz / 1e3));
}

/// Widths of the pipeline, counts of units, operand collectors, the order of warps.
std::string units(const Machine& machine) {
    std::string out;
    Option widths(machine, "-gpgpu_pipeline_widths");
    const auto schedulers = schedulers_of(widths);
    widths.deduce("one instruction of each kind for each scheduler; twice as many results");
    std::vector<std::int64_t> stages(13, schedulers);
    stages[10] = 2 * schedulers;  // EX_WB
    out += widths.line(fmt::format("{}", fmt::join(stages, ",")));
    for (const std::string_view unit : {"sp", "sfu", "dp", "int"}) {
        Option option(machine, fmt::format("-gpgpu_num_{}_units", unit));
        const auto count = schedulers_of(option);
        option.deduce("one for each scheduler; the initiation intervals hold their rates");
        out += option.line(count);
    }
    if (machine.pipelines.contains("tensor")) {
        Option option(machine, "-gpgpu_num_tensor_core_units");
        const auto count = schedulers_of(option);
        option.deduce("one for each scheduler; the initiation intervals hold their rates");
        out += option.line(count);
        out += assumed(machine, "-gpgpu_tensor_core_avail", "1", "the description has a pipeline for products");
    }
    Option cores(machine, "-gpgpu_sub_core_model");
    const auto of_scheduler = schedulers_of(cores);
    const auto partitions = cores.integer_or("topology.register_partitions", 1, "as nothing says otherwise");
    cores.deduce("1 where each scheduler has registers of its own");
    out += cores.line(of_scheduler > 1 && partitions == of_scheduler ? 1 : 0);
    const bool is_new = machine.identity.compute_capability_major.value_or(0) >= kVolta;
    // Without collectors for all units, instructions of some of them never start.
    out += assumed(machine, "-gpgpu_enable_specialized_operand_collector", "0", kAsTested);
    for (const std::string_view part : {"num_units", "num_in_ports", "num_out_ports"})
        out += assumed(machine, fmt::format("-gpgpu_operand_collector_{}_gen", part), "8", kAsTested);
    Option banks(machine, "-gpgpu_num_reg_banks");
    const auto of_partition = banks.integer_or("topology.operand_banks", 2, "as on the GPUs where they were measured");
    const auto parts = banks.integer_or("topology.register_partitions", 1, "as nothing says otherwise");
    banks.assume("twice as many, because the simulator has no cache of reused operands");
    out += banks.line(2 * of_partition * parts);
    Option ports(machine, "-gpgpu_reg_file_port_throughput");
    const auto port = ports.integer_or("topology.operand_ports", 1, "as nothing says otherwise");
    ports.assume("twice as many, because the simulator has no cache of reused operands");
    out += ports.line(2 * port);
    out += assumed(machine, "-gpgpu_scheduler", is_new ? "lrr" : "gto", kAsTested);
    out += assumed(machine, "-gpgpu_dual_issue_diff_exec_units", "1", kAsTested);
    out += assumed(machine, "-gpgpu_inst_fetch_throughput", fmt::format("{}", is_new ? 4 : 1), kAsTested);
    return out + assumed(machine, "-gpgpu_perfect_inst_const_cache", "1",
                         "instructions and constants are in the first cache: the simulator's caches of them have no "
                         "counterpart in the description");
}

/// The operations that give the latencies of ADD, MAX, MUL, MAD, DIV and SHFL. The first described one counts.
struct OpcodeClass {
    std::string_view name;
    std::vector<std::vector<std::string>> operations;
};

std::vector<OpcodeClass> opcode_classes() {
    return {{"int",
             {{"add.s32"},
              {"max.s32", "min.s32"},
              {"mul.lo.s32"},
              {"mad.lo.s32"},
              {"div.s32", "div.u32"},
              {"shfl.sync.idx.b32", "shfl.idx.b32"}}},
            {"fp",
             {{"add.f32"},
              {"max.f32", "min.f32"},
              {"mul.f32"},
              {"fma.rn.f32", "mad.f32"},
              {"div.rn.f32", "div.approx.f32", "div.full.f32"}}},
            {"dp", {{"add.f64"}, {"max.f64", "min.f64"}, {"mul.f64"}, {"fma.rn.f64", "mad.f64"}, {"div.rn.f64"}}}};
}

/// A latency as the option of the simulator, which adds cycles of its own. No unit takes less than `least`.
std::int64_t less_added(Option& option, std::int64_t latency, std::int64_t added, std::int64_t least) {
    if (latency == 0) return 0;
    option.deduce(fmt::format("less the {} cycles that the simulator adds, but at least {}", added, least));
    return std::max(least, latency - added);
}

/// Cycles for which an instruction of a warp occupies the pipeline of one scheduler.
std::int64_t initiation(Option& option, const std::string& throughput_path) {
    const double rate = option.number(throughput_path);
    const double warp = option.number("topology.warp_size"), schedulers = option.number("issue.schedulers_per_sm");
    return rate > 0 ? std::max<std::int64_t>(1, std::llround(warp * schedulers / rate)) : 0;
}

struct Timing {
    std::int64_t latency = 0, interval = 0;
};

/// What stands in for an operation that the description lacks.
Timing timing(const Machine& machine, Option& latencies, Option& intervals, const std::vector<std::string>& names) {
    const auto path = [&](std::string_view leaf) {
        std::vector<std::string> paths;
        for (const auto& name : names) paths.push_back(leaf_of("operations", name, leaf));
        return Option(machine, "").first_of(paths);
    };
    Timing found;
    const bool is_shuffle = names.front().starts_with("shfl");
    if (!latencies.has(path("latency")) && is_shuffle) {
        latencies.assume("shuffles take as long as loads from shared memory");
        found.latency = latencies.integer("shared.latency");
    } else {
        found.latency = latencies.integer(path("latency"));
    }
    if (!intervals.has(path("throughput")) && is_shuffle) {
        intervals.assume("shuffles are as frequent as loads of a word from shared memory");
        found.interval = initiation(intervals, "shared.banks");
    } else {
        found.interval = initiation(intervals, path("throughput"));
    }
    return found;
}

std::string opcode_lists(const Machine& machine) {
    std::string out;
    for (const auto& row : opcode_classes()) {
        Option latency(machine, fmt::format("-ptx_opcode_latency_{}", row.name)),
            interval(machine, fmt::format("-ptx_opcode_initiation_{}", row.name));
        std::vector<std::int64_t> latencies, intervals;
        for (const auto& names : row.operations) {
            const Timing one = timing(machine, latency, interval, names);
            // The longest of these has to be as long as any that the unit executes.
            intervals.push_back(one.interval);
            latencies.push_back(std::max(one.interval, less_added(latency, one.latency, kAdded.arithmetic, 1)));
        }
        latency.deduce("no latency is below the interval, which the simulator cannot represent");
        out += latency.line(fmt::format("{}", fmt::join(latencies, ",")));
        out += interval.line(fmt::format("{}", fmt::join(intervals, ",")));
    }
    struct Row {
        std::string_view latency, interval, pipeline;
    };
    constexpr std::array kRows = {
        Row{"-ptx_opcode_latency_sfu", "-ptx_opcode_initiation_sfu", "sfu"},
        Row{"-ptx_opcode_latency_tesnor", "-ptx_opcode_initiation_tensor", "tensor"}};  // spelt so in the simulator
    for (const Row& row : kRows) {
        if (row.pipeline == "tensor" && !machine.pipelines.contains("tensor")) continue;
        Option latency(machine, row.latency), interval(machine, row.interval);
        const auto cycles = latency.integer(leaf_of("pipelines", row.pipeline, "latency"));
        const auto every = initiation(interval, leaf_of("pipelines", row.pipeline, "lanes"));
        out += latency.line(std::max(every, less_added(latency, cycles, kAdded.arithmetic, 1)));
        out += interval.line(every);
    }
    return out;
}

/// Latencies and intervals of machine code, by the unit that executes it.
std::string trace_classes(const Machine& machine) {
    struct Row {
        std::string_view name, latency, rate;
    };
    constexpr std::array kRows = {
        Row{"int", "operations[add.s32].latency", "pipelines.int.lanes"},
        Row{"sp", "pipelines.sp.latency", "pipelines.sp.lanes"},
        Row{"dp", "pipelines.dpu.latency", "pipelines.dpu.lanes"},
        Row{"sfu", "pipelines.sfu.latency", "pipelines.sfu.lanes"},
        Row{"tensor", "pipelines.tensor.latency", "pipelines.tensor.lanes"},
        Row{"spec_op_3", "pipelines.tensor.latency", "pipelines.tensor.lanes"},
    };
    std::string out;
    const bool has_tensor = machine.pipelines.contains("tensor");
    for (const auto& row : kRows) {
        if (!has_tensor && row.rate.starts_with("pipelines.tensor")) continue;
        Option option(machine, fmt::format("-trace_opcode_latency_initiation_{}", row.name));
        const auto latency = option.integer(std::string(row.latency));
        const std::string rate(option.first_of({std::string(row.rate), "operations[add.s32].throughput"}));
        const auto every = initiation(option, rate);
        const auto cycles = std::max(every, less_added(option, latency, kAdded.arithmetic, 1));
        option.deduce("cycles from one instruction of a warp to the next on the unit of one scheduler, second");
        out += option.line(fmt::format("{},{}", cycles, every));
        if (row.name != "spec_op_3") continue;
        Option unit(machine, "-specialized_unit_3");
        const auto count = schedulers_of(unit);
        unit.deduce("enabled, one for each scheduler, its latency, its width in the pipeline");
        out += unit.line(fmt::format("1,{0},{1},{0},{0},TENSOR", count, std::max<std::int64_t>(1, cycles)));
    }
    Option branches(machine, "-specialized_unit_1");
    const auto count = schedulers_of(branches);
    branches.assume("branches have a unit of each scheduler, as in the simulator's own configurations");
    out += branches.line(fmt::format("1,{0},4,{0},{0},BRA", count));
    out += assumed(machine, "-trace_opcode_latency_initiation_spec_op_1", "4,4", kAsTested);
    Option textures(machine, "-specialized_unit_2");
    const std::string first = textures.first_of({"caches.texture_l1.latency", "paths.texture.memory_latency"});
    const auto texture_latency = textures.integer_or(first, 200, "as in the simulator's own configurations");
    const auto of_textures = schedulers_of(textures);
    textures.assume("each fetch takes the latency of the first cache; the simulator knows no caches of traced fetches");
    out += textures.line(fmt::format("1,{0},{1},{0},{0},TEX", of_textures, texture_latency));
    Option fetches(machine, "-trace_opcode_latency_initiation_spec_op_2");
    (void)fetches.integer_or(first, 200, "as in the simulator's own configurations");
    fetches.assume("a fetch every 4 cycles, as in the simulator's own configurations");
    out += fetches.line(fmt::format("{},4", texture_latency));
    Option uniform(machine, "-specialized_unit_4");
    const auto of_uniform = schedulers_of(uniform);
    uniform.assume("instructions on uniform registers have a unit of each scheduler");
    out += uniform.line(fmt::format("1,{0},4,{0},{0},UDP", of_uniform));
    return out + assumed(machine, "-trace_opcode_latency_initiation_spec_op_4", "4,1", kAsTested);
}

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

/// What has no counterpart in a description: queues, the interconnect, and how DRAM is addressed.
std::string surroundings(const Machine& machine) {
    struct Row {
        std::string_view key, value, why;
    };
    constexpr std::array kRows = {
        Row{"-gpgpu_cache:il1", "N:64:128:16,L:R:f:N:L,S:2:48,4", kAsTested},
        Row{"-gpgpu_tex_cache:l1", "N:4:128:256,L:R:m:N:L,T:512:8,128:2", kAsTested},
        Row{"-gpgpu_const_cache:l1", "N:128:64:8,L:R:f:N:L,S:2:64,4", kAsTested},
        Row{"-gpgpu_dram_partition_queues", "64:64:64:64", kAsTested},
        Row{"-gpgpu_n_cluster_ejection_buffer_size", "32", kAsTested},
        Row{"-gpgpu_perf_sim_memcpy", "0", "copies from the host do not fill the L2, so that caches start empty"},
        Row{"-network_mode", "2", "the simulator's crossbar, whose clock holds the bandwidth"},
        Row{"-icnt_in_buffer_limit", "512", kAsTested},
        Row{"-icnt_out_buffer_limit", "512", kAsTested},
        Row{"-icnt_subnets", "2", kAsTested},
        Row{"-icnt_flit_size", "40", "a request of 32 bytes and its head"},
        Row{"-icnt_arbiter_algo", "1", kAsTested},
        Row{"-gpgpu_simple_dram_model", "1", "a latency and a bandwidth, as the description has them"},
        Row{"-gpgpu_dram_buswidth", "8", "no effect with that model"},
        Row{"-gpgpu_dram_burst_length", "4", "no effect with that model"},
        Row{"-gpgpu_mem_address_mask", "1", kAsTested},
        Row{"-gpgpu_mem_addr_mapping",
            "dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS", kAsTested},
        Row{"-gpgpu_memlatency_stat", "14", "what the simulator prints"},
        Row{"-visualizer_enabled", "0", "what the simulator prints"},
    };
    std::string out;
    for (const Row& row : kRows) out += assumed(machine, row.key, row.value, row.why);
    return out;
}

std::string head(const Machine& machine, std::string_view reader) {
    return fmt::format(
        "# {} for {}\n# Written by gputomo from a machine description. Comments above an option say where its value "
        "comes from.\n",
        reader, machine.identity.name.value_or("an unknown GPU"));
}

std::string options(const Machine& machine) {
    return capability(machine) + shader_core(machine) + clocks(machine) + units(machine) + opcode_lists(machine) +
           shared_memory(machine) + l1(machine) + l2(machine) + memory_latencies(machine) + surroundings(machine);
}

}  // namespace

std::string gpgpu_sim(const Machine& machine) {
    return head(machine, "Options of GPGPU-Sim, to be saved as gpgpusim.config,") + options(machine);
}

std::string accel_sim(const Machine& machine) {
    return head(machine, "Options of Accel-Sim, of gpgpusim.config and trace.config in one,") + options(machine) +
           trace_classes(machine);
}

}  // namespace gputomo::exports
