// The files that a process writes while it runs. Each event is written at once, so that a process that crashes or is
// killed leaves everything that it launched.
#pragma once

#include "capture/protocol.hpp"

#include <regex.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace gputomo::capture {

/// What the command asked for, from the environment.
struct Settings {
    std::string folder;  ///< empty: record nothing
    bool matches_all = true;
    regex_t kernels{};
    Selection launches;
    std::uint64_t memory = 0;
    bool results = false;

    Settings();
    [[nodiscard]] bool records(const std::string& kernel) const;
};

class Journal {
public:
    explicit Journal(const Settings& settings);

    /// Whether its files could be made. Nothing is written otherwise.
    [[nodiscard]] bool open() const { return lines_ >= 0; }
    /// Stops where the disk is full.
    void write(std::string_view line);
    /// Appends to the contents of memory; returns where.
    std::uint64_t append(std::span<const std::byte> content);
    /// Writes a file of its own for a module; returns its name in the folder.
    std::string write_image(std::span<const std::byte> bytes);

private:
    bool next_window();

    std::string folder_, suffix_;
    int lines_ = -1, data_ = -1;
    // Lines go into a mapped part of their file: that costs no system call, and the kernel keeps what was written when
    // the process is killed. The rest of the last part is zero.
    std::mutex lock_;
    char* window_ = nullptr;
    std::size_t used_ = 0;
    std::uint64_t window_start_ = 0;
    bool full_ = false;
    std::uint64_t data_bytes_ = 0;
    int images_ = 0;
};

/// Microseconds of the clock that all processes of the machine share.
[[nodiscard]] double now_us();

}  // namespace gputomo::capture
