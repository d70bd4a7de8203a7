#include "capture/record.hpp"
#include "capture/reduce/reduce.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/options.hpp"
#include "cli/terminal/exits.hpp"
#include "cli/terminal/messages.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gputomo::cli {
namespace {

/// The most arguments that Linux passes to a program are far fewer.
constexpr int kMostArguments = 1'000'000;

struct CaptureOptions {
    capture::Options options;
    capture::ReduceOptions reduction;
    std::vector<int> launch_numbers;
    std::int64_t time_limit_s = 600;
    std::string launches = "0:1";
    bool no_memory = false;
    Ways usage{{"a program", "--reduce"}};
};

/// Bits of CaptureOptions::usage.
constexpr unsigned kOfProgram = 1, kOfReduction = 2;

/// What the launches of one kernel have in common.
struct CapturedKernel {
    int kernel = 0;
    std::uint64_t launches = 0, timed = 0, in_graphs = 0;  ///< `timed`: those that did not wait for the host
    double us = 0;
    std::uint64_t stored = 0;  ///< bytes of memory that its launches point into and that were stored
    const capture::Shape* first = nullptr;
};

std::string shape_text(const std::array<std::uint32_t, 3>& three) {
    return fmt::format("{}x{}x{}", three[0], three[1], three[2]);
}

std::uint64_t stored_bytes(const capture::Launch& launch) {
    std::uint64_t bytes = 0;
    if (launch.buffers)
        for (const auto& buffer : *launch.buffers) bytes += buffer.omitted.empty() ? buffer.bytes : 0;
    return bytes;
}

void count_launch(CapturedKernel& row, const capture::Shape& shape) {
    if (row.first == nullptr) row.first = &shape;
    ++row.launches;
}

std::vector<CapturedKernel> captured_kernels(const capture::Capture& made) {
    std::vector<CapturedKernel> rows(made.kernels.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].kernel = static_cast<int>(i);
    const auto row = [&](const capture::Shape& shape) -> CapturedKernel& {
        return rows[static_cast<std::size_t>(shape.kernel)];
    };
    for (const auto& launch : made.launches) {
        if (launch.kernel) {
            count_launch(row(*launch.kernel), *launch.kernel);
            row(*launch.kernel).stored += stored_bytes(launch);
            if (launch.us && !launch.host_wait_us) row(*launch.kernel).us += *launch.us, ++row(*launch.kernel).timed;
            continue;
        }
        for (const auto& node : made.graphs[static_cast<std::size_t>(*launch.graph)].nodes)
            count_launch(row(node.shape), node.shape), ++row(node.shape).in_graphs;
    }
    std::erase_if(rows, [](const CapturedKernel& r) { return r.launches == 0; });
    std::ranges::stable_sort(rows, std::ranges::greater(), &CapturedKernel::us);
    return rows;
}

/// The first words of a kernel's name, which template arguments can make very long.
std::string shortened_name(const std::string& name) {
    constexpr std::size_t kWidth = 56;
    const auto shown = out::one_line(name);
    return shown.size() <= kWidth ? shown : shown.substr(0, kWidth - 3) + "...";
}

void print_captured_kernels(const capture::Capture& made) {
    out::print("{:<56} {:>8} {:>14} {:>12} {:>11} {:>11} {:>9}  {}\n", "kernel", "launches", "first grid", "block",
               "total us", "mean us", "memory MB", "code");
    for (const auto& row : captured_kernels(made)) {
        const auto& kernel = made.kernels[static_cast<std::size_t>(row.kernel)];
        const std::string mean = row.timed == 0 ? "-" : fmt::format("{:.2f}", row.us / static_cast<double>(row.timed));
        const std::string code =
            kernel.module ? made.modules[static_cast<std::size_t>(*kernel.module)].format : "none: " + kernel.missing;
        out::print("{:<56} {:>8} {:>14} {:>12} {:>11.2f} {:>11} {:>9.2f}  {}\n", shortened_name(kernel.readable),
                   row.launches, shape_text(row.first->grid), shape_text(row.first->block), row.us, mean,
                   static_cast<double>(row.stored) / 1e6, code);
    }
}

void print_capture_summary(const capture::Capture& made) {
    std::uint64_t graphs = 0, memory = 0, waited = 0;
    double graph_us = 0;
    for (const auto& launch : made.launches) {
        if (launch.graph) ++graphs, graph_us += launch.us.value_or(0);
        if (launch.host_wait_us) ++waited;
    }
    for (const auto& file : made.memory) memory += file.bytes;
    if (waited != 0)
        out::print(
            "the times of {} launches contain waiting for the host, and are not in the columns of us; "
            "`gputomo measure` times launches alone\n",
            waited);
    if (graphs != 0) out::print("{} starts of graphs took {:.2f} us; their kernels have no times\n", graphs, graph_us);
    out::print("{} launches of {} kernels in {} processes and {:.1f} s, {} modules, {:.1f} MB of memory: {}\n",
               made.launches.size(), made.kernels.size(), made.processes.size(), made.header.wall_seconds,
               made.modules.size(), static_cast<double>(memory) / 1e6, made.folder.string());
}

std::string reduction_text(const capture::Reduction& reduction) {
    if (!reduction.whole.empty()) return "none: " + reduction.whole;
    const std::string proof = reduction.unproven.empty() ? "proven" : "unproven: " + reduction.unproven;
    return reduction.approximate.empty() ? proof : proof + ", approximate: " + reduction.approximate;
}

void print_reduction(const capture::Capture& made) {
    out::print("{:<56} {:>14} {:>12} {:>13} {:>11} {:>11}  {}\n", "kernel", "grid", "block", "instructions",
               "memory MB", "kept MB", "reduction");
    for (const auto& launch : made.launches) {
        const auto& kernel = made.kernels[static_cast<std::size_t>(launch.kernel->kernel)];
        out::print("{:<56} {:>14} {:>12} {:>13} {:>11.3f} {:>11.3f}  {}\n", shortened_name(kernel.readable),
                   shape_text(launch.kernel->grid), shape_text(launch.kernel->block), launch.reduction->instructions,
                   static_cast<double>(launch.reduction->bytes) / 1e6,
                   static_cast<double>(launch.reduction->kept) / 1e6, reduction_text(*launch.reduction));
    }
}

capture::Writer capture_writer() {
    const auto origin = origin_of_command();
    return {origin.version, origin.commit, origin.date};
}

/// Without a program: makes a smaller capture of one that was made before.
int reduce_capture(CaptureOptions& chosen) {
    if (!chosen.options.command.empty())
        throw InputError("--reduce: found a program too; expected the folder of a capture alone, or a program alone");
    chosen.reduction.out = chosen.options.out;
    chosen.reduction.kernels = chosen.options.kernels;
    for (const int number : chosen.launch_numbers) {
        if (number < 0) throw InputError(fmt::format("--launch {}: expected a number of 0 or more", number));
        chosen.reduction.launches.push_back(static_cast<std::uint64_t>(number));
    }
    chosen.reduction.time_limit = std::chrono::seconds(chosen.time_limit_s);
    chosen.reduction.writer = capture_writer();
    const auto made = capture::reduce(chosen.reduction);
    print_reduction(made);
    return 0;
}

/// Says on standard error what the limit of memory left out: such launches cannot be predicted, simulated or measured.
void print_left_out(const capture::Capture& made) {
    const auto& limit = made.header.memory_limit;
    if (!limit || limit->launches == 0) return;
    out::warn(
        "--max-memory {}: the memory of {} launches, from launch {} on, is not whole: {} bytes more were wanted. "
        "They cannot be predicted, simulated or measured. Capture again with --max-memory {}, or choose launches "
        "with --kernel or --launches",
        limit->bytes, limit->launches, limit->first, limit->bytes_left_out, limit->bytes + limit->bytes_left_out);
}

/// Says on standard error which launches are missing or where they are, and what is still in the folder.
void print_what_stays(const capture::Recorded& recording, const std::string& folder) {
    const auto& made = recording.capture;
    const std::string why = recording.interrupted ? "the program was interrupted" : "the program has ended";
    const std::string older = recording.keeps_older ? fmt::format("the capture that {} had is unchanged", folder)
                                                    : fmt::format("nothing was written to {}", folder);
    if (made.launches.empty())
        out::say(
            "gputomo: {} and launched no kernel that was recorded; {}. It may have used no GPU, or --kernel may "
            "match none of its kernels. The recording library cannot be loaded into a program that is "
            "statically linked or runs with other rights.",
            why, older);
    else if (recording.keeps_older)
        out::say(
            "gputomo: {} after {} launches, which are in {}; {}. Use that folder as it is, or move it to "
            "another place.",
            why, made.launches.size(), made.folder.string(), older);
    else if (recording.interrupted)
        out::say("gputomo: {} after {} launches, which are in {}", why, made.launches.size(), made.folder.string());
}

int run_capture(CaptureOptions& chosen) {
    const bool reduces = !chosen.reduction.in.empty();
    chosen.usage.check(reduces ? kOfReduction : kOfProgram);
    if (reduces) return reduce_capture(chosen);
    if (chosen.options.command.empty())
        throw InputError("program: missing; expected the program to record after --, or --reduce with a capture");
    chosen.options.launches = capture::selection(chosen.launches);
    if (chosen.no_memory) chosen.options.memory = 0;
    chosen.options.writer = capture_writer();
    const auto recording = capture::record(chosen.options);
    const auto& made = recording.capture;
    print_what_stays(recording, chosen.options.out.string());
    if (!made.launches.empty()) {
        print_captured_kernels(made);
        print_capture_summary(made);
        print_left_out(made);
    }
    if (recording.interrupted_here) return kInterrupted;
    return made.launches.empty() && made.header.exit_code == 0 ? kFailed : made.header.exit_code;
}

}  // namespace

void add_capture(CLI::App& parent, Action& action) {
    const auto chosen = std::make_shared<CaptureOptions>();
    Command command(parent, "capture",
                    "Run a program and record the kernels that it launches; exits with the program's exit code");
    auto& options = chosen->options;
    command
        .add_option("--out", options.out,
                    "folder to write the capture to; an older capture in it is replaced by a new one that is whole")
        .required();
    command.add_option("--kernel", options.kernels,
                       "record only kernels whose name, as in the module, matches this extended regular expression");
    command
        .add_option("--launches", chosen->launches,
                    "FIRST[:COUNT]: store memory of these launches of each kernel and shape, counted from 0")
        .capture_default_str()
        .only_for(chosen->usage, kOfProgram);
    auto most = command.add_option("--max-memory", options.memory, "most bytes of memory that each process stores");
    most.capture_default_str().only_for(chosen->usage, kOfProgram);
    auto results =
        command.add_flag("--results", options.results,
                         "also store the same memory after each of these launches, to compare a simulation's with it");
    results.only_for(chosen->usage, kOfProgram);
    command.add_flag("--no-memory", chosen->no_memory, "store no memory: only shapes, parameters, code and times")
        .excludes(most)
        .excludes(results)
        .only_for(chosen->usage, kOfProgram);
    command.add_option("--reduce", chosen->reduction.in,
                       "run no program, but write a smaller capture of the one in this folder, without memory that "
                       "decides neither what is executed nor where it reads and writes");
    command
        .add_option("--launch", chosen->launch_numbers,
                    "with --reduce: only this launch, by its number in the capture; given once for each")
        .one_value_each()
        .only_for(chosen->usage, kOfReduction);
    command
        .add_option("--time-limit", chosen->time_limit_s,
                    "with --reduce: longest time that one launch may take, in seconds; then all of its memory is kept")
        .capture_default_str()
        .positive()
        .only_for(chosen->usage, kOfReduction);
    command
        .add_flag("--unproven", chosen->reduction.unproven,
                  "with --reduce: also leave out large buffers of launches that cannot be executed here, or not in "
                  "time; the capture says so")
        .only_for(chosen->usage, kOfReduction);
    command.add_command_line("program", options.command, "the program and its arguments, after --")
        .expected(1, kMostArguments);
    command.runs(action, [chosen] { return run_capture(*chosen); });
}

}  // namespace gputomo::cli
