// Writes what is kept of a launch's memory into a capture.
#pragma once

#include "capture/capture.hpp"
#include "capture/reduce/memory_watch.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace gputomo::capture {

/// Gathers what is kept of memory, each content once, and writes it.
class KeptMemory {
public:
    /// Adds bytes that stand at this offset of a buffer. The part has no file before write().
    Content add(std::uint64_t offset, std::string_view bytes);
    /// Writes the contents, and names their files in the launches.
    void write(const std::filesystem::path& folder, Capture& capture) const;

private:
    std::string all_;
    std::map<std::string, std::uint64_t> places_;  ///< in all_, by SHA-256
};

/// Adds the content of a buffer, as it is. Returns the bytes that are kept.
std::uint64_t keep_whole(Buffer& buffer, MemoryReader& reader, KeptMemory& kept);

/// Replaces the content of a buffer by what its region holds. Returns the bytes that are kept.
std::uint64_t keep_held(Buffer& buffer, const Region& region, KeptMemory& kept);

}  // namespace gputomo::capture
