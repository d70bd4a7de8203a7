#include "cli/command.hpp"
#include "cli/devices.hpp"
#include "scan/files.hpp"
#include "units/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

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
    if (!in) throw InputError(fmt::format("{}: cannot be opened", file));
    return {std::istreambuf_iterator<char>(in), {}};
}

template <class T>
T number(const std::string& text, const std::string& where) {
    T value{};
    std::istringstream in(text);
    in >> value;
    if (text.empty() || in.fail() || !in.eof()) throw InputError(fmt::format("{}: found '{}'; expected a number", where, text));
    return value;
}

device::Dim3 dimensions(const std::string& text, const std::string& option) {
    device::Dim3 d;
    std::istringstream in(text);
    std::string part;
    for (auto* to : {&d.x, &d.y, &d.z})
        if (std::getline(in, part, ',')) *to = number<std::uint32_t>(part, option);
    if (std::getline(in, part, ',')) throw InputError(fmt::format("{} {}: expected X[,Y,Z]", option, text));
    return d;
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

void dump(const std::string& text, const std::vector<device::Buffer>& buffers) {
    const auto colon = text.find(':');
    const std::string where = "--dump " + text;
    if (colon == std::string::npos) throw InputError(where + ": expected N:FILE");
    const auto n = number<std::size_t>(text.substr(0, colon), where);
    if (n >= buffers.size()) throw InputError(fmt::format("{}: there are {} buffers, counted from 0", where, buffers.size()));
    const auto content = buffers[n].read<char>(static_cast<std::size_t>(buffers[n].size().count()));
    scan::write_file(text.substr(colon + 1), {content.data(), content.size()});
}

int simulate(const SimulateOptions& options) {
    const auto gpu = open_simulated(options.device, options.seed, 0);
    std::unique_ptr<device::Module> module;
    try {
        module = gpu->load(read_file(options.file));
    } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", options.file, e.what()));
    }
    device::Launch launch{.grid = dimensions(options.grid, "--grid"), .block = dimensions(options.block, "--block")};
    launch.dynamic_shared = Bytes(options.shared);
    launch.time_limit = std::chrono::milliseconds(options.time_limit_ms);
    std::vector<device::Buffer> buffers;
    for (const auto& argument : options.arguments) add_argument(argument, *gpu, launch.arguments, buffers);
    const auto result = module->kernel(options.kernel).launch(launch);
    const auto& c = gpu->counters();
    fmt::print("cycles {}\nelapsed_ns {:.1f}\nwarp_instructions {}\nthread_instructions {}\nmemory_transactions {}\ndram_bytes {}\nbank_conflict_cycles {}\ndivergent_branches {}\n", c.cycles, result.elapsed.count(),
               c.warp_instructions, c.thread_instructions, c.memory_transactions, c.dram_bytes, c.bank_conflict_cycles, c.divergent_branches);
    for (const auto& [name, hits] : c.cache_hits) fmt::print("{}_hits {}\n{}_misses {}\n", name, hits, name, c.cache_misses.at(name));
    for (const auto& text : options.dumps) dump(text, buffers);
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
