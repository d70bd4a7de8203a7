// What the command and the preloaded library agree on: names of environment variables, files and launch selection.
#pragma once

#include <cstdint>

namespace gputomo::capture {

/// The folder in which each process of the program writes its journal.
inline constexpr const char* kFolderVariable = "GPUTOMO_CAPTURE_FOLDER";
/// A POSIX extended regular expression; kernels whose name it does not match are not recorded. Unset records all.
inline constexpr const char* kKernelVariable = "GPUTOMO_CAPTURE_KERNEL";
/// FIRST:COUNT of Selection.
inline constexpr const char* kLaunchesVariable = "GPUTOMO_CAPTURE_LAUNCHES";
/// Bytes of memory content that one process may store; 0 stores none.
inline constexpr const char* kMemoryVariable = "GPUTOMO_CAPTURE_MEMORY";

/// Set: memory is stored after a launch too.
inline constexpr const char* kResultsVariable = "GPUTOMO_CAPTURE_RESULTS";

/// Files of a process in the folder: kind, process ID and a number that makes the name new.
inline constexpr const char* kJournalPrefix = "journal-";  ///< JSON lines, one for each event
inline constexpr const char* kDataPrefix = "data-";        ///< contents of memory, one after the other
inline constexpr const char* kImagePrefix = "image-";      ///< what the program gave the driver as a module

/// Launches of one kernel with the same grid, block, cluster and shared memory are numbered from 0. Memory is stored
/// of `count` of them from `first` on.
struct Selection {
    std::uint64_t first = 0;
    std::uint64_t count = 1;
};

/// Keeps a training step: weights, gradients, the optimizer's state and activations change from launch to launch, and
/// each new content is stored (docs/capture.md). More would fill disks unasked.
inline constexpr std::uint64_t kDefaultMemory = std::uint64_t{4} << 30;

}  // namespace gputomo::capture
