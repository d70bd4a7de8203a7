#include "cli/traces.hpp"

#include "cli/terminal/messages.hpp"
#include "files/growing_file.hpp"
#include "files/output_file.hpp"
#include "launch/prepared_launch.hpp"
#include "launch/trace/accel_sim_trace.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace gputomo::cli {
namespace {

constexpr std::string_view kTraceList = "kernelslist.g";

}  // namespace

TraceFolder::TraceFolder(const std::string& text) {
    const auto colon = text.find(':');
    const auto format = std::string_view(text).substr(0, colon);
    first_release_ = format == "accel-sim-1";
    if (colon == std::string::npos || colon + 1 == text.size() || (!first_release_ && format != "accel-sim"))
        throw InputError(fmt::format("--trace {}: expected accel-sim:FOLDER or accel-sim-1:FOLDER", text));
    folder_ = text.substr(colon + 1);
    files::check_writable_folder(folder_);
    if (!std::filesystem::is_empty(folder_))
        throw InputError(fmt::format("--trace {}: {} has files; expected a new or empty folder", text, folder_));
}

void TraceFolder::add(const launch::Launch& launch, const machine::Machine& machine,
                      std::chrono::milliseconds time_limit) {
    const std::uint64_t number = files_.size() + 1;
    const auto name = fmt::format("kernel-{}.traceg", number);
    const auto file = std::filesystem::path(folder_) / name;
    files::GrowingFile trace(file);
    const auto traced = launch::write_accel_sim_trace(
        launch::PreparedLaunch(launch), machine,
        {.number = number,
         .release = first_release_ ? launch::AccelSimRelease::one : launch::AccelSimRelease::two,
         .time_limit = time_limit},
        trace.stream());
    trace.finish();
    files_.push_back(name);
    out::print("{}: {}, {} blocks, {} warp instructions, {} bytes\n", name, launch.kernel, launch.grid.count(),
               traced.warp_instructions, std::filesystem::file_size(file));
    if (!traced.replaced.empty())
        out::note("{}: instructions that this release of Accel-Sim does not know are named as others: {}", name,
                  fmt::join(traced.replaced, ", "));
    if (traced.waits)
        out::warn(
            "{}: warps of {} wait for others. The trace has as many looks at memory as there were here, whatever the "
            "times of the simulator that replays it",
            name, launch.kernel);
}

void TraceFolder::finish() {
    files::write_whole(std::filesystem::path(folder_) / kTraceList, fmt::format("{}\n", fmt::join(files_, "\n")));
}

}  // namespace gputomo::cli
