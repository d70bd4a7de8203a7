// Options of the cores: what executes instructions, how many of it there are, and how long it takes.
#include "exports/accel_sim_option.hpp"

#include <array>
#include <bit>

namespace gputomo::exports::gpgpu {
namespace {

constexpr std::int64_t kVolta = 7;

std::int64_t schedulers_of(Option& option) {
    return std::max<std::int64_t>(1, option.integer_or("issue.schedulers_per_sm", 1, "the least"));
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

}  // namespace

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

}  // namespace gputomo::exports::gpgpu
