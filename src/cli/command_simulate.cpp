#include "cli/command.hpp"
#include "cli/devices.hpp"
#include "scan/files.hpp"
#include "units/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <type_traits>

namespace gputomo::cli {
namespace {

struct SimulateOptions {
    std::string file, kernel, device = "sim:gtx280", grid = "1", block = "1";
    std::vector<std::string> arguments, dumps;
    std::uint64_t seed = 1;
    std::int64_t shared = 0;
    std::int64_t time_limit_ms = 60'000;
};

std::string read_file(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in || std::filesystem::is_directory(file)) throw InputError(fmt::format("{}: cannot be opened", file));
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The whole of `text` as a number that T holds.
template <class T>
T number(std::string_view text, const std::string& where) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) throw InputError(fmt::format("{}: found '{}'; expected a smaller number", where, text));
    if (error != std::errc{} || end != text.data() + text.size())
        throw InputError(fmt::format("{}: found '{}'; expected {}", where, text, std::is_integral_v<T> ? (std::is_signed_v<T> ? "a whole number" : "a whole number that is not negative") : "a number"));
    return value;
}

device::Dim3 dimensions(std::string_view text, const std::string& option) {
    const std::string where = fmt::format("{} {}", option, text);
    device::Dim3 d;
    std::string_view rest = text;
    for (auto* to : {&d.x, &d.y, &d.z}) {
        const auto comma = rest.find(',');
        *to = number<std::uint32_t>(rest.substr(0, comma), where);
        if (*to == 0) throw InputError(where + ": expected numbers of 1 or more");
        if (comma == std::string_view::npos) return d;
        rest.remove_prefix(comma + 1);
    }
    throw InputError(where + ": expected X[,Y,Z]");
}

/// Scalars by type name: what to append to the arguments.
struct Scalar {
    std::string_view type;
    void (*add)(device::Arguments&, const std::string& text, const std::string& where);
};
template <class T>
void add_scalar(device::Arguments& to, const std::string& text, const std::string& where) { to.add(number<T>(text, where)); }
constexpr Scalar kScalars[] = {{"u32", add_scalar<std::uint32_t>}, {"s32", add_scalar<std::int32_t>}, {"u64", add_scalar<std::uint64_t>},
                               {"s64", add_scalar<std::int64_t>},  {"f32", add_scalar<float>},        {"f64", add_scalar<double>}};

/// Appends "TYPE:VALUE" or "buf:BYTES[:FILE]"; buffers are kept in `buffers`.
void add_argument(const std::string& text, device::Device& gpu, device::Arguments& to, std::vector<device::Buffer>& buffers) {
    const std::string where = "--arg " + text;
    const auto colon = text.find(':');
    if (colon == std::string::npos) throw InputError(where + ": expected TYPE:VALUE or buf:BYTES[:FILE]");
    const std::string type = text.substr(0, colon), rest = text.substr(colon + 1);
    if (type == "buf") {
        const auto second = rest.find(':');
        const auto bytes = number<std::int64_t>(rest.substr(0, second), where);
        if (bytes <= 0) throw InputError(where + ": expected a positive number of bytes");
        auto& buffer = buffers.emplace_back(gpu, Bytes(bytes));
        if (second != std::string::npos) {
            auto content = read_file(rest.substr(second + 1));
            if (content.size() > static_cast<std::size_t>(bytes)) throw InputError(fmt::format("{}: the file has {} bytes; expected no more than the buffer", where, content.size()));
            content.resize(static_cast<std::size_t>(bytes));
            buffer.write(std::span<const char>(content));
        }
        to.add(buffer.address());
        return;
    }
    for (const auto& scalar : kScalars)
        if (scalar.type == type) return scalar.add(to, rest, where);
    throw InputError(fmt::format("{}: no type '{}'; expected u32, s32, u64, s64, f32, f64 or buf", where, type));
}

/// What --dump asks for.
struct Dump {
    const device::Buffer* buffer;
    std::string file;
};

/// Checks the file too, so that a long simulation is not for nothing.
Dump dump_from(const std::string& text, const std::vector<device::Buffer>& buffers) {
    const auto colon = text.find(':');
    const std::string where = "--dump " + text;
    if (colon == std::string::npos || colon + 1 == text.size()) throw InputError(where + ": expected N:FILE");
    const auto n = number<std::size_t>(std::string_view(text).substr(0, colon), where);
    if (n >= buffers.size()) throw InputError(fmt::format("{}: there are {} buffers, counted from 0", where, buffers.size()));
    Dump dump{&buffers[n], text.substr(colon + 1)};
    scan::check_writable_file(dump.file);
    return dump;
}

void write(const Dump& dump) {
    const auto content = dump.buffer->read<char>(static_cast<std::size_t>(dump.buffer->size().count()));
    scan::write_file(dump.file, {content.data(), content.size()});
}

/// A module and the kernel of it to run.
struct Loaded {
    std::unique_ptr<device::Module> module;
    device::Kernel* kernel;
};

Loaded load_kernel(device::Device& gpu, const std::string& file, const std::string& name) {
    const auto ptx = read_file(file);
    try {
        auto module = gpu.load(ptx);
        auto* kernel = &module->kernel(name);
        return {std::move(module), kernel};
    } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", file, e.what()));
    }
}

void print(const sim::Counters& c, Nanoseconds elapsed) {
    fmt::print("cycles {}\nelapsed_ns {:.1f}\nwarp_instructions {}\nthread_instructions {}\nmemory_transactions {}\ndram_bytes {}\n", c.cycles, elapsed.count(),
               c.warp_instructions, c.thread_instructions, c.memory_transactions, c.dram_bytes);
    fmt::print("bank_conflict_cycles {}\ndivergent_branches {}\n", c.bank_conflict_cycles, c.divergent_branches);
    for (const auto& [name, hits] : c.cache_hits) fmt::print("{}_hits {}\n{}_misses {}\n", name, hits, name, c.cache_misses.at(name));
}

int simulate(const SimulateOptions& options) {
    const auto gpu = open_simulated(options.device, options.seed, 0);
    const auto loaded = load_kernel(*gpu, options.file, options.kernel);
    device::Launch launch{.grid = dimensions(options.grid, "--grid"), .block = dimensions(options.block, "--block")};
    launch.dynamic_shared = Bytes(options.shared);
    launch.time_limit = std::chrono::milliseconds(options.time_limit_ms);
    std::vector<device::Buffer> buffers;
    for (const auto& argument : options.arguments) add_argument(argument, *gpu, launch.arguments, buffers);
    std::vector<Dump> dumps;
    for (const auto& text : options.dumps) dumps.push_back(dump_from(text, buffers));
    const auto result = loaded.kernel->launch(launch);
    print(gpu->counters(), result.elapsed);
    for (const auto& dump : dumps) write(dump);
    return 0;
}

}  // namespace

void add_simulate(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<SimulateOptions>();
    auto* command = parent.add_subcommand("simulate", "Run a PTX kernel on a simulated GPU");
    command->add_option("file", options->file, "PTX file")->required();
    command->add_option("--kernel", options->kernel, "entry to run")->required();
    command->add_option("--device", options->device, "sim:NAME or sim:FILE.json")->capture_default_str();
    command->add_option("--grid", options->grid, "blocks, X[,Y,Z]")->capture_default_str();
    command->add_option("--block", options->block, "threads of a block, X[,Y,Z]")->capture_default_str();
    command->add_option("--shared", options->shared, "bytes of dynamic shared memory")->check(CLI::NonNegativeNumber);
    command->add_option("--arg", options->arguments, "TYPE:VALUE or buf:BYTES[:FILE], in order")->allow_extra_args(false);
    command->add_option("--dump", options->dumps, "N:FILE writes buffer N after the run")->allow_extra_args(false);
    command->add_option("--seed", options->seed)->capture_default_str();
    command->add_option("--time-limit", options->time_limit_ms, "milliseconds of this machine's time")->capture_default_str()->check(CLI::PositiveNumber);
    command->callback([&action, options] { action = [options] { return simulate(*options); }; });
}

}  // namespace gputomo::cli
