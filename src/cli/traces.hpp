// Writes what launches execute in the form that other simulators replay.
#pragma once

#include "launch/launch.hpp"
#include "machine/machine.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::cli {

inline constexpr const char* kTraceHelp =
    "accel-sim:FOLDER: write what each warp executes as traces of Accel-Sim 2 (accel-sim-1:FOLDER: of the releases "
    "before, for code that they know), in place of a simulation";

/// Writes traces of launches to a new or empty folder: kernelslist.g, and kernel-N.traceg for each launch.
class TraceFolder {
public:
    /// `text` is "accel-sim:FOLDER". Throws InputError where it is another, or the folder has files.
    explicit TraceFolder(const std::string& text);

    /// Executes the launch and adds its trace. Throws as launch::write_accel_sim_trace() does.
    void add(const launch::Launch& launch, const machine::Machine& machine, std::chrono::milliseconds time_limit);
    /// Writes the list of the kernels, without which the folder is no trace, and prints what there is.
    void finish();

private:
    std::string folder_;
    bool first_release_ = false;
    std::vector<std::string> files_;
};

}  // namespace gputomo::cli
