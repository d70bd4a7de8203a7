// Reads the journal of one process.
#pragma once

#include "capture/capture.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::capture {

/// A kernel as the journal names it.
struct JournalKernel {
    std::string name, image;  ///< the file with the code, empty if there is none
    int sm = 0;               ///< compute capability of the GPU that launched it
};

/// What one process recorded. Indices are its own: kernels, GPUs, graphs and launches are counted from 0. The `at` of
/// a content is a position in `data`, and its `file` is empty.
struct ProcessJournal {
    Process process;
    double host_us = 0;  ///< when it began
    std::string data;    ///< file with contents of memory
    std::vector<Gpu> gpus;
    std::vector<JournalKernel> kernels;
    std::vector<Graph> graphs;
    std::vector<Launch> launches;
};

/// Throws InputError naming `origin`, the name of the file, the line and the field.
[[nodiscard]] ProcessJournal read_journal(std::string_view text, std::string_view origin);

}  // namespace gputomo::capture
