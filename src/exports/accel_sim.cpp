// Writes Accel-Sim's options (gpgpusim.config and trace.config) from leaves that were measured or cited.
#include "exports/exports.hpp"

#include "machine/diff.hpp"
#include "machine/json.hpp"
#include "machine/paths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace gputomo::exports {
namespace {

using machine::Machine;

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
    /// The text at `path`. Where it is not known, returns `otherwise` and adds a remark.
    std::string text(const std::string& path, std::string_view otherwise) {
        const auto leaf = machine::get_leaf(machine_, path);
        if (leaf && leaf->knowledge == machine::Knowledge::known) return std::get<std::string>(known(path)->value);
        remark(fmt::format("{} is not known; assumed to be {}", path, otherwise));
        return std::string(otherwise);
    }
    /// The first of `paths` that is known, or paths[0] where none is.
    std::string first_of(const std::vector<std::string>& paths) {
        const auto found = std::find_if(paths.begin(), paths.end(), [&](const std::string& path) {
            const auto leaf = machine::get_leaf(machine_, path);
            return leaf && leaf->knowledge == machine::Knowledge::known;
        });
        return found == paths.end() ? paths.front() : *found;
    }
    /// Adds a comment above the option, unless it has that comment already.
    void remark(std::string text) {
        if (std::find(comments_.begin(), comments_.end(), text) == comments_.end())
            comments_.push_back(std::move(text));
    }

    /// The option's line below its comments, or only a comment where a leaf is missing.
    [[nodiscard]] std::string line(const std::string& value) const {
        std::string out = "\n";
        for (const auto& comment : comments_) out += fmt::format("# {}\n", comment);
        if (missing_.empty()) return out + fmt::format("{} {}\n", key_, value);
        return fmt::format("\n# {} is left out: {} not known\n", key_, fmt::join(missing_, ", "));
    }

private:
    std::optional<machine::Leaf> known(const std::string& path) {
        auto leaf = machine::get_leaf(machine_, path);
        if (!leaf || leaf->knowledge != machine::Knowledge::known) {
            missing_.push_back(path);
            return std::nullopt;
        }
        remark(describe(path, *leaf));
        return leaf;
    }
    static std::string describe(const std::string& path, const machine::Leaf& leaf) {
        const auto& from = leaf.provenance;
        std::string out = fmt::format("{} = {}: {}", path, machine::value_text(leaf),
                                      from.source.empty() ? from.method : from.source);
        if (from.confidence) out += fmt::format(" (confidence {:.2f})", *from.confidence);
        std::replace(out.begin(), out.end(), '\n', ' ');
        return out;
    }

    const Machine& machine_;
    std::string key_;
    std::vector<std::string> comments_, missing_;
};

std::string leaf_of(std::string_view section, std::string_view key, std::string_view leaf) {
    return machine::join_path(section, key, leaf);
}

std::vector<std::string> global_caches(const Machine& machine) {
    const auto path = machine.paths.find("global");
    return path == machine.paths.end() ? std::vector<std::string>{} : path->second.caches.value_or({});
}

/// An option whose value is that of one leaf.
std::string copied(const Machine& machine, std::string_view key, const std::string& path) {
    Option option(machine, key);
    return option.line(fmt::format("{}", option.integer(path)));
}

std::string shader_core(const Machine& machine) {
    std::string out = copied(machine, "-gpgpu_compute_capability_major", "identity.compute_capability_major");
    out += copied(machine, "-gpgpu_compute_capability_minor", "identity.compute_capability_minor");
    out += copied(machine, "-gpgpu_n_clusters", "topology.sms");
    out += copied(machine, "-gpgpu_shader_registers", "topology.registers_per_sm");
    Option pipeline(machine, "-gpgpu_shader_core_pipeline");
    const auto threads = pipeline.integer("topology.max_threads_per_sm"), warp = pipeline.integer("topology.warp_size");
    out += pipeline.line(fmt::format("{}:{}", threads, warp));
    out += copied(machine, "-gpgpu_shader_cta", "topology.max_blocks_per_sm");
    out += copied(machine, "-gpgpu_num_sched_per_core", "issue.schedulers_per_sm");
    out += copied(machine, "-gpgpu_shmem_size", "shared.capacity");
    out += copied(machine, "-gpgpu_shmem_per_block", "shared.max_per_block");
    out += copied(machine, "-gpgpu_shmem_num_banks", "shared.banks");
    out += copied(machine, "-gpgpu_smem_latency", "shared.latency");
    Option launch(machine, "-gpgpu_kernel_launch_latency");
    const double nanoseconds = launch.number("launch.empty_kernel"), megahertz = launch.number("clock.sm_mhz");
    return out + launch.line(fmt::format("{}", std::llround(nanoseconds * megahertz / 1e3)));
}

/// Accel-Sim's L2 latency excludes that of the L1, and its DRAM latency excludes that of the L2.
std::string memory_latencies(const Machine& machine) {
    const auto caches = global_caches(machine);
    const std::string memory = "paths.global.memory_latency";
    std::string out;
    Option dram(machine, "-dram_latency");
    const auto whole = dram.integer(memory);
    if (caches.empty()) return dram.line(fmt::format("{}", whole));
    const std::string last = leaf_of("caches", caches.back(), "latency");
    out += dram.line(fmt::format("{}", whole - dram.integer(last)));
    if (caches.size() < 2) return out;
    const std::string first = leaf_of("caches", caches.front(), "latency");
    out += copied(machine, "-gpgpu_l1_latency", first);
    Option l2(machine, "-gpgpu_l2_rop_latency");
    const auto to_l2 = l2.integer(last);
    return out + l2.line(fmt::format("{}", to_l2 - l2.integer(first)));
}

/// The operations that give the latencies of ADD, MAX, MUL, MAD and DIV. The first described one counts.
struct OpcodeClass {
    std::string_view name;
    std::vector<std::vector<std::string>> operations;
};

std::vector<OpcodeClass> opcode_classes() {
    return {{"int", {{"add.s32"}, {"max.s32", "min.s32"}, {"mul.lo.s32"}, {"mad.lo.s32"}, {"div.s32", "div.u32"}}},
            {"fp",
             {{"add.f32"},
              {"max.f32", "min.f32"},
              {"mul.f32"},
              {"fma.rn.f32", "mad.f32"},
              {"div.rn.f32", "div.approx.f32", "div.full.f32"}}},
            {"dp", {{"add.f64"}, {"max.f64", "min.f64"}, {"mul.f64"}, {"fma.rn.f64", "mad.f64"}, {"div.rn.f64"}}}};
}

std::string operation_path(Option& option, const std::vector<std::string>& names, std::string_view leaf) {
    std::vector<std::string> paths;
    for (const auto& name : names) paths.push_back(leaf_of("operations", name, leaf));
    return option.first_of(paths);
}

/// Cycles for which an instruction of a warp occupies the pipeline of one scheduler.
std::int64_t initiation(Option& option, const std::string& throughput_path) {
    const double rate = option.number(throughput_path);
    const double warp = option.number("topology.warp_size"), schedulers = option.number("issue.schedulers_per_sm");
    return rate > 0 ? std::max<std::int64_t>(1, std::llround(warp * schedulers / rate)) : 0;
}

std::string opcode_lists(const Machine& machine) {
    std::string out;
    for (const auto& row : opcode_classes()) {
        Option latency(machine, fmt::format("-ptx_opcode_latency_{}", row.name)),
            interval(machine, fmt::format("-ptx_opcode_initiation_{}", row.name));
        std::vector<std::int64_t> latencies, intervals;
        for (const auto& names : row.operations) {
            latencies.push_back(latency.integer(operation_path(latency, names, "latency")));
            intervals.push_back(initiation(interval, operation_path(interval, names, "throughput")));
        }
        out += latency.line(fmt::format("{}", fmt::join(latencies, ",")));
        out += interval.line(fmt::format("{}", fmt::join(intervals, ",")));
    }
    out += copied(machine, "-ptx_opcode_latency_sfu", "pipelines.sfu.latency");
    Option sfu(machine, "-ptx_opcode_initiation_sfu");
    return out + sfu.line(fmt::format("{}", initiation(sfu, "pipelines.sfu.lanes")));
}

std::string trace_classes(const Machine& machine) {
    struct Row {
        std::string_view name, latency, rate;
    };
    constexpr Row kRows[] = {{"int", "operations[add.s32].latency", "operations[add.s32].throughput"},
                             {"sp", "pipelines.sp.latency", "pipelines.sp.lanes"},
                             {"dp", "pipelines.dpu.latency", "pipelines.dpu.lanes"},
                             {"sfu", "pipelines.sfu.latency", "pipelines.sfu.lanes"}};
    std::string out;
    for (const auto& row : kRows) {
        Option option(machine, fmt::format("-trace_opcode_latency_initiation_{}", row.name));
        const auto latency = option.integer(std::string(row.latency));
        out += option.line(fmt::format("{},{}", latency, initiation(option, std::string(row.rate))));
    }
    return out;
}

/// Writes Accel-Sim's cache geometry:
/// type:sets:line:ways,replacement:write:allocation:write allocation:index,MSHR kind:entries:merge,queue:0,port
std::string cache_line(const Machine& machine, std::string_view key, const std::string& cache, char default_write,
                       std::int64_t slices) {
    Option option(machine, key);
    const auto leaf = [&](std::string_view name) { return leaf_of("caches", cache, name); };
    const auto sets = option.integer(leaf("sets")), line = option.integer(leaf("line")),
               ways = option.integer(leaf("ways"));
    const auto sector = option.integer(leaf("sector"));
    const auto policy = option.text(leaf("policy"), "lru");
    if (policy != "lru" && policy != "fifo")
        option.remark(fmt::format("the simulator has no policy '{}'; LRU stands in its place", policy));
    const char write =
        option.text(leaf("write_policy"), default_write == 'T' ? "write-through" : "write-back") == "write-back" ? 'B'
                                                                                                                 : 'T';
    const char index = option.text(leaf("index"), "modulo") == "hash" ? 'X' : 'L';
    const auto entries = option.integer(leaf("outstanding_entries")), merge = option.integer(leaf("outstanding_merge"));
    if (slices > 1) option.remark(fmt::format("the number of sets is that of one of {} memory partitions", slices));
    return option.line(fmt::format("{}:{}:{}:{},{}:{}:m:L:{},A:{}:{},16:0,32", sector < line ? 'S' : 'N', sets / slices,
                                   line, ways, policy == "fifo" ? 'F' : 'L', write, index, entries, merge));
}

std::string caches(const Machine& machine) {
    const auto names = global_caches(machine);
    if (names.empty())
        return "\n# Global memory has no caches, so -gpgpu_cache:dl1 and -gpgpu_cache:dl2 are left out\n";
    const std::int64_t slices = machine.memory.channels.value_or(1);
    std::string out;
    if (names.size() > 1) out += cache_line(machine, "-gpgpu_cache:dl1", names.front(), 'T', 1);
    out += copied(machine, "-gpgpu_n_mem", "memory.channels");
    return out + cache_line(machine, "-gpgpu_cache:dl2", names.back(), 'B', slices);
}

}  // namespace

std::string accel_sim(const Machine& machine) {
    std::string out = fmt::format(
        "Device Name = {}\n# Written by gputomo from a machine description. Lines below a comment follow from the "
        "leaves it names.\n",
        machine.identity.name.value_or("unknown"));
    out += shader_core(machine);
    out += memory_latencies(machine);
    out += opcode_lists(machine);
    out += trace_classes(machine);
    return out + caches(machine);
}

}  // namespace gputomo::exports
