// Entries of a suite: launches of other authors' kernels and what a GPU measured (suites/README.md).
#pragma once

#include "capture/capture.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::compare {

inline constexpr const char* kCyclesCounter = "gpc__cycles_elapsed.max";

struct SuiteEntry {
    std::string suite, name, program, kernel;
    std::array<std::uint32_t, 3> grid{}, block{};
    bool held_out = false, async = false;
    std::map<std::string, double> counters;  ///< of one GPU, by the profiler's name; kCyclesCounter is among them
};

/// The entries of suites/NAME.json that have measurements of a GPU. Throws InputError naming file and field.
[[nodiscard]] std::vector<SuiteEntry> read_suite(const std::filesystem::path& file, const std::string& gpu,
                                                 bool held_out);

/// Reads the text of such a file, which messages call `origin`.
[[nodiscard]] std::vector<SuiteEntry> suite_of(std::string_view text, const std::string& origin, const std::string& gpu,
                                               bool held_out);

/// The folder of an entry's capture: SUITE/PROGRAM/HASH, with 12 digits of the SHA-256 of the kernel's name.
[[nodiscard]] std::filesystem::path capture_folder(const std::filesystem::path& captures, const SuiteEntry& entry);

/// The entry's launch in a capture. Throws InputError where it has none with memory.
[[nodiscard]] const capture::Launch& launch_of(const capture::Capture& capture, const SuiteEntry& entry);

}  // namespace gputomo::compare
