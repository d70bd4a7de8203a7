#include "cli/inputs/devices.hpp"
#include "cli/inputs/kernel_arguments.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/options.hpp"
#include "cli/terminal/help.hpp"
#include "files/output_file.hpp"
#include "ptx/parser.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace gputomo::cli {
namespace {

struct SimulateOptions {
    std::string file, kernel, device = "sim:gtx280", grid = "1", block = "1";
    std::vector<std::string> arguments, dumps;
    std::uint64_t seed = 1;
    std::int64_t shared = 0;
    std::int64_t time_limit_ms = 60'000;
};

constexpr std::size_t kLargestPtx = std::size_t{64} << 20;

/// A buffer that --dump writes to a file after the run.
struct Dump {
    const device::Buffer* buffer;
    std::string file;
};

/// The files that a simulation reads.
std::vector<std::string> inputs_of(const SimulateOptions& options) {
    auto inputs = files_of({options.file, options.device});
    for (const auto& argument : options.arguments)  // buf:BYTES:FILE
        if (const auto colon = argument.find(':', argument.find(':') + 1); colon != std::string::npos)
            inputs.push_back(argument.substr(colon + 1));
    return inputs;
}

/// Also checks that the file can be written, before a long simulation.
Dump dump_from(const std::string& text, const std::vector<device::Buffer>& buffers,
               const std::vector<std::string>& inputs) {
    const auto colon = text.find(':');
    const std::string where = "--dump " + text;
    if (colon == std::string::npos || colon + 1 == text.size()) throw InputError(where + ": expected N:FILE");
    const auto n = number<std::size_t>(std::string_view(text).substr(0, colon), where);
    if (n >= buffers.size())
        throw InputError(fmt::format("{}: there are {} buffers, counted from 0", where, buffers.size()));
    Dump dump{&buffers[n], text.substr(colon + 1)};
    files::refuse_inputs("--dump", dump.file, inputs);
    files::check_writable_file(dump.file);
    return dump;
}

void write(const Dump& dump) {
    const auto content = dump.buffer->read<char>(static_cast<std::size_t>(dump.buffer->size().count()));
    files::write_whole(dump.file, {content.data(), content.size()});
}

std::unique_ptr<device::Module> load(device::Device& gpu, std::string_view ptx, const std::string& file) {
    try {
        return gpu.load(ptx);
    } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", file, e.what()));
    }
}

void check_limit(const device::Device& gpu, device::Attribute attribute, std::uint64_t asked, std::string_view what) {
    const auto most = gpu.attribute(attribute);
    if (most && asked > static_cast<std::uint64_t>(*most))
        throw InputError(
            fmt::format("{}: found {}; expected at most {}, the limit of {}", what, asked, *most, gpu.name()));
}

/// A simulated GPU does not fail. What ends a launch before its time limit is thus the kernel's fault, and the command
/// exits as failed, not as a device failure.
device::LaunchResult launch_kernel(device::Kernel& kernel, const device::Launch& launch) {
    try {
        return kernel.launch(launch);
    } catch (const TimeLimitError&) {
        throw;
    } catch (const DeviceError& e) {
        throw Error(e.what());
    }
}

void print(const sim::Counters& c, Nanoseconds elapsed) {
    fmt::print(
        "cycles {}\nelapsed_ns {:.1f}\nwarp_instructions {}\nthread_instructions {}\nmemory_transactions "
        "{}\ndram_bytes {}\n",
        c.cycles, elapsed.count(), c.warp_instructions, c.thread_instructions, c.memory_transactions, c.dram_bytes);
    fmt::print("bank_conflict_cycles {}\ndivergent_branches {}\n", c.bank_conflict_cycles, c.divergent_branches);
    for (const auto& [name, hits] : c.cache_hits)
        fmt::print("{}_hits {}\n{}_misses {}\n", name, hits, name, c.cache_misses.at(name));
}

int simulate(const SimulateOptions& options) {
    const auto gpu = open_simulated(options.device, options.seed, 0);
    const auto text = read_file(options.file, "a PTX file", kLargestPtx);
    const auto parsed = ptx::parse(text, options.file);
    const auto& signature = find_kernel(parsed, options.kernel, options.file);
    device::Launch launch{.grid = dimensions(options.grid, "--grid"), .block = dimensions(options.block, "--block")};
    launch.dynamic_shared = Bytes(options.shared);
    launch.time_limit = std::chrono::milliseconds(options.time_limit_ms);
    check_limit(*gpu, device::Attribute::max_threads_per_block, launch.block.count(), "--block " + options.block);
    check_limit(*gpu, device::Attribute::max_shared_memory_per_block, static_cast<std::uint64_t>(options.shared),
                "--shared");
    const auto module = load(*gpu, text, options.file);
    auto arguments = kernel_arguments(options.arguments, signature, *gpu);
    launch.arguments = arguments.packed;
    std::vector<Dump> dumps;
    for (const auto& dump : options.dumps) dumps.push_back(dump_from(dump, arguments.buffers, inputs_of(options)));
    const auto result = launch_kernel(module->kernel(options.kernel), launch);
    print(gpu->counters(), result.elapsed);
    for (const auto& dump : dumps) write(dump);
    return 0;
}

}  // namespace

void add_simulate(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<SimulateOptions>();
    Command command(parent, "simulate", "Run a PTX kernel on a simulated GPU and print its counters");
    command.add_option("file", options->file, "PTX file").required();
    command.add_option("--kernel", options->kernel, "entry of the file to run").required();
    command.add_option("--device", options->device, "simulated GPU: sim:NAME or sim:FILE.json").capture_default_str();
    command.add_option("--grid", options->grid, "blocks of the launch, X[,Y,Z]").capture_default_str();
    command.add_option("--block", options->block, "threads per block, X[,Y,Z]").capture_default_str();
    command.add_option("--shared", options->shared, "dynamic shared memory per block, in bytes (default: 0)")
        .non_negative();
    command
        .add_option("--arg", options->arguments,
                    "one argument, in the kernel's order: TYPE:VALUE with TYPE u32, s32, u64, s64, f32 or f64, or "
                    "buf:BYTES[:FILE]; given once for each")
        .one_value_each();
    command
        .add_option("--dump", options->dumps,
                    "N:FILE: write the content of buffer N, counted from 0, to FILE after the run")
        .one_value_each();
    command.add_option("--seed", options->seed, kSeedHelp).capture_default_str().seed();
    command
        .add_option("--time-limit", options->time_limit_ms,
                    "longest time that the simulation may take, in milliseconds of this computer's time")
        .capture_default_str()
        .positive();
    command.runs(action, [options] { return simulate(*options); });
}

}  // namespace gputomo::cli
