#include "answer/simulated.hpp"
#include "cli/inputs/captured_launches.hpp"
#include "cli/inputs/devices.hpp"
#include "cli/inputs/kernel_arguments.hpp"
#include "cli/inputs/machine_code.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/options.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "device/cubin.hpp"
#include "files/output_file.hpp"
#include "ptx/parser.hpp"
#include "sim/machine_code/refused_instruction.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace gputomo::cli {
namespace {

struct SimulateOptions {
    std::string file, kernel, device, code;
    ShapeOptions shape;
    std::vector<std::string> arguments, dumps;
    std::uint64_t seed = 1;
    std::int64_t shared = 0;
    std::int64_t time_limit_ms = 60'000;
    std::vector<int> launches;
    std::uint64_t sample_above = kDefaultSampleAbove;
    bool check = false, whole = false;
    Ways usage{{"a file", "a capture"}};

    [[nodiscard]] std::optional<sim::SamplingPlan> sampling() const {
        if (whole || check || !dumps.empty()) return std::nullopt;
        return sim::SamplingPlan{sample_above};
    }
};

/// Bits of SimulateOptions::usage.
constexpr unsigned kSimulatesFile = 1, kSimulatesCapture = 2;

/// The simulated GPU where --device names none.
constexpr const char *kDefaultDevice = "sim:gtx280", *kDefaultOfCaptures = "sim:h200";

/// What is executed: PTX or a cubin, and what the kernel asks for.
struct Program {
    std::string code;
    Signature signature;
};

Signature signature_in_cubin(const std::string& code, const SimulateOptions& options) {
    try {
        const device::Cubin cubin(std::as_bytes(std::span(code)));
        return signature_of(cubin, options.kernel, options.file);
    } catch (const InputError& e) {
        const std::string_view what = e.what();
        throw InputError(what.starts_with(options.file) ? std::string(what)
                                                        : fmt::format("{}: {}", options.file, what));
    }
}

/// `where` begins the message, and `expected` says what would work.
void check_machine_code(const device::Device& gpu, const std::string& where, std::string_view expected) {
    const int sm = gpu.ptx_target().sm;
    if (sm != kExecutedSm)
        throw InputError(
            fmt::format("{}: machine code is executed on compute capability {}.{} only, and {} has {}.{}; expected {}",
                        where, kExecutedSm / 10, kExecutedSm % 10, gpu.name(), sm / 10, sm % 10, expected));
}

/// Reads the file, and compiles PTX where machine code is asked for.
Program read_program(const SimulateOptions& options, const device::Device& gpu) {
    const auto wish = options.code == "ptx" ? CodeWish::ptx : CodeWish::any;
    auto [code, is_extracted] = read_code(options.file, gpu.ptx_target().sm, wish);
    Program program{.code = std::move(code), .signature = {}};
    if (device::is_cubin(program.code)) {
        if (options.code == "ptx")
            throw InputError(
                fmt::format("--code ptx: {} is a cubin, which has no PTX; expected a PTX file, or --code "
                            "sass",
                            options.file));
        check_machine_code(gpu, options.file, "a PTX file, or a --device of that compute capability");
        program.signature = signature_in_cubin(program.code, options);
        return program;
    }
    const auto parsed = ptx::parse(program.code, options.file);
    program.signature = signature_of(find_kernel(parsed, options.kernel, options.file));
    if (options.code == "sass") {
        check_machine_code(gpu, "--code sass", "--code ptx, or a --device of that compute capability");
        program.code = compile_ptx({options.file, is_extracted ? program.code : ""}, kExecutedSm, "--code sass",
                                   "give a cubin for sm_90, install the CUDA toolkit, or use --code ptx");
    }
    return program;
}

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

std::unique_ptr<device::Module> load(device::Device& gpu, std::string_view code, const std::string& file) {
    try {
        return gpu.load(code);
    } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", file, e.what()));
    }
}

/// A simulated GPU does not fail. What ends a launch before its time limit is thus the kernel's fault, and the command
/// exits as failed, not as a device failure.
device::LaunchResult launch_kernel(device::Kernel& kernel, const device::Launch& launch) {
    try {
        return kernel.launch(launch);
    } catch (const TimeLimitError&) {
        throw;
    } catch (const sim::SamplingError& e) {
        throw Error(fmt::format("{} (--whole)", e.what()));
    } catch (const sim::RefusedInstruction& e) {
        throw Error(fmt::format("{}, or simulate the kernel's PTX where you have it (--code ptx)", e.what()));
    } catch (const DeviceError& e) {
        throw Error(e.what());
    }
}

/// What was executed, and which machine instructions took a time that no scan measured.
void print(const sim::ExecutedCode& code, const sim::Counters& counters, const device::Device& gpu) {
    const bool sass = code.language == sim::ExecutedCode::Language::sass;
    out::print("code {}\n", sass ? "sass" : "ptx");
    if (!sass) return;
    const auto sms = gpu.attribute(device::Attribute::multiprocessor_count).value_or(1);
    const auto cycles = static_cast<double>(std::max<std::uint64_t>(counters.cycles, 1)) * static_cast<double>(sms);
    out::print("ipc_of_an_sm {:.4f}\n", static_cast<double>(counters.warp_instructions) / cycles);
    for (const auto& assumed : code.assumed)
        out::print("assumed_cost {} executed {} times: {}\n", assumed.operation, assumed.executed, assumed.assumption);
}

void print(const sim::Counters& c, Nanoseconds elapsed) {
    out::print("cycles {}\nprofiler_cycles {}\nelapsed_ns {:.1f}\n", c.cycles, c.profiler_cycles, elapsed.count());
    out::print("warp_instructions {}\nthread_instructions {}\nmemory_transactions {}\ndram_bytes {}\n",
               c.warp_instructions, c.thread_instructions, c.memory_transactions, c.dram_bytes);
    out::print("bank_conflict_cycles {}\ndivergent_branches {}\n", c.bank_conflict_cycles, c.divergent_branches);
    for (const auto& [name, hits] : c.cache_hits)
        out::print("{}_hits {}\n{}_misses {}\n", name, hits, name, c.cache_misses.at(name));
}

void print(const sim::SampledBlocks& blocks) {
    if (blocks.complete()) return;
    out::print("sampled_blocks {} of {}\nsampling_error {:.2f}%\n", blocks.simulated, blocks.of, 100 * blocks.error);
}

void print(const launch::Difference& different) {
    out::print("differs {}: byte {} is {:#04x}; expected {:#04x}; {} of {} bytes differ\n", different.buffer,
               different.offset, different.found, different.expected, different.bytes, different.compared);
}

/// Runs launches of a capture, each on a GPU of its own, so that all begin with cold caches. Exits with 1 where results
/// differ, or where a launch cannot be run and others can.
int simulate_capture(const SimulateOptions& options) {
    const auto captured = capture::load(options.file);
    const auto chosen = chosen_launches(captured, options.file, options.kernel, options.launches);
    int code = 0;
    for (const auto number : chosen) {
        const auto& launch = captured.launches[number];
        if (launch.kernel)
            out::print("launch {} {}\n", number,
                       captured.kernels[static_cast<std::size_t>(launch.kernel->kernel)].readable);
        try {
            const auto make_gpu = [&] {
                return open_simulated(options.device.empty() ? kDefaultOfCaptures : options.device, options.seed, 0);
            };
            const auto gpu = make_gpu();
            check_machine_code(*gpu, options.file, "a --device of that compute capability, such as sim:h200");
            const auto simulated = answer::simulate(make_gpu, captured, launch,
                                                    {.time_limit = std::chrono::milliseconds(options.time_limit_ms),
                                                     .compares_results = options.check,
                                                     .sampling = options.sampling()});
            print(simulated.counters, simulated.elapsed);
            print(simulated.blocks);
            print(simulated.code, simulated.counters, *gpu);
            for (const auto& different : simulated.differences) print(different);
            if (options.check && simulated.differences.empty()) out::print("results as captured\n");
            if (!simulated.differences.empty()) code = 1;
        } catch (const Error& error) {
            if (chosen.size() == 1) throw;
            out::print("failed {}\n", error.what());
            code = 1;
        }
    }
    return code;
}

int simulate(SimulateOptions& options) {
    const bool is_capture = std::filesystem::is_directory(options.file);
    options.usage.check(is_capture ? kSimulatesCapture : kSimulatesFile);
    if (is_capture) return simulate_capture(options);
    if (options.kernel.empty()) throw InputError("--kernel: missing; expected an entry of the file to run");
    if (options.device.empty()) options.device = kDefaultDevice;
    const auto gpu = open_simulated(options.device, options.seed, 0);
    const Program program = read_program(options, *gpu);
    const auto shape = launch_shape(options.shape, *gpu);
    device::Launch launch{.grid = shape.grid, .block = shape.block};
    launch.dynamic_shared = Bytes(options.shared);
    launch.time_limit = std::chrono::milliseconds(options.time_limit_ms);
    check_limit(*gpu, device::Attribute::max_shared_memory_per_block, static_cast<std::uint64_t>(options.shared),
                "--shared", "bytes");
    const auto module = load(*gpu, program.code, options.file);
    auto arguments = kernel_arguments(options.arguments, program.signature, *gpu);
    launch.arguments = arguments.packed;
    std::vector<Dump> dumps;
    for (const auto& dump : options.dumps) dumps.push_back(dump_from(dump, arguments.buffers, inputs_of(options)));
    gpu->sample(options.sampling());
    const auto result = launch_kernel(module->kernel(options.kernel), launch);
    print(gpu->counters(), result.elapsed);
    print(gpu->sampled_blocks());
    const auto& executed = gpu->executed_code();
    if (!options.code.empty() || executed.language != sim::ExecutedCode::Language::ptx)
        print(executed, gpu->counters(), *gpu);
    for (const auto& dump : dumps) write(dump);
    return 0;
}

/// Adds the options that describe a launch, and returns --dump.
Option add_launch_options(Command& command, const std::shared_ptr<SimulateOptions>& options) {
    command
        .add_option("--code", options->code,
                    "what is executed: ptx, or sass (machine code of sm_90; of a PTX file what the ptxas on the PATH "
                    "makes of it). Default: what the file holds")
        .member_of({"ptx", "sass"})
        .only_for(options->usage, kSimulatesFile);
    command.add_option("--grid", options->shape.grid, "blocks of the launch, X[,Y,Z]; needed for a file")
        .only_for(options->usage, kSimulatesFile);
    command.add_option("--block", options->shape.block, "threads per block, X[,Y,Z]; needed for a file")
        .only_for(options->usage, kSimulatesFile);
    command.add_option("--shared", options->shared, "dynamic shared memory per block, in bytes (default: 0)")
        .non_negative()
        .only_for(options->usage, kSimulatesFile);
    command
        .add_option("--arg", options->arguments,
                    "one argument, in the kernel's order: TYPE:VALUE with TYPE u32, s32, u64, s64, f32 or f64, or "
                    "buf:BYTES[:FILE]; given once for each")
        .one_value_each()
        .only_for(options->usage, kSimulatesFile);
    auto dump = command.add_option("--dump", options->dumps,
                                   "N:FILE: write the content of buffer N, counted from 0, to FILE after the run");
    dump.one_value_each().only_for(options->usage, kSimulatesFile);
    return dump;
}

}  // namespace

void add_simulate(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<SimulateOptions>();
    Command command(parent, "simulate",
                    "Run a kernel, in PTX or machine code, on a simulated GPU and print its counters");
    command.add_option("file", options->file, "PTX file, cubin for sm_90, or folder of a capture").required();
    command.add_option("--kernel", options->kernel,
                       "entry of the file to run; of a capture, all launches of this kernel that have memory");
    command.add_option("--launch", options->launches, "of a capture: the launch of this number; given once for each")
        .one_value_each()
        .only_for(options->usage, kSimulatesCapture);
    auto check = command.add_flag("--check", options->check,
                                  "of a capture with results: compare memory after the launch with the GPU's");
    check.only_for(options->usage, kSimulatesCapture);
    command.add_option("--device", options->device,
                       "simulated GPU: sim:NAME or sim:FILE.json (default: sim:gtx280; for a capture sim:h200)");
    auto dump = add_launch_options(command, options);
    auto above = command.add_option("--sample-above", options->sample_above, kSampleAboveHelp);
    above.capture_default_str().excludes(check).excludes(dump);
    command
        .add_flag("--whole", options->whole,
                  "simulate all blocks, as --check and --dump do, which need complete results")
        .excludes(above);
    command.add_option("--seed", options->seed, kSeedHelp).capture_default_str();
    command
        .add_option("--time-limit", options->time_limit_ms,
                    "longest time that the simulation may take, in milliseconds of this computer's time")
        .capture_default_str()
        .positive();
    command.runs(action, [options] { return simulate(*options); });
}

}  // namespace gputomo::cli
