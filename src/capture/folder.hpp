// Writes a capture to a folder. An older capture there stays until the new one is whole.
#pragma once

#include "capture/capture.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace gputomo::capture {

/// How the names of folders begin in which a capture is made, within that of the capture.
inline constexpr std::string_view kJournalsFolder = ".journals-", kNewFolder = ".new-";

/// A new folder that is deleted with its content.
class TemporaryFolder {
public:
    /// `start` becomes a name that is new. Throws InputError.
    explicit TemporaryFolder(const std::filesystem::path& start);
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// Creates the folder for a capture. Throws InputError when it cannot be written or holds something that is not one.
void check_folder(const std::filesystem::path& folder);

/// Writes a module below `folder` and adds it to the list, unless it is there; returns its number.
int add_module(const std::filesystem::path& folder, std::vector<Module>& modules, std::string_view code,
               std::string_view format);

/// How hard contents are compressed: quickly while a program waits, or well.
enum class Compression : std::uint8_t { fast, best };

/// Writes contents of memory below `folder` and adds them to the list, unless they are there.
MemoryFile add_memory(const std::filesystem::path& folder, std::vector<MemoryFile>& files, std::string_view content,
                      Compression compression);

/// Creates the folders that a capture has.
void make_folders(const std::filesystem::path& folder);

/// Writes the index of a capture whose modules and memory are below `folder`.
void write_index(const std::filesystem::path& folder, const Capture& capture);

/// Moves a whole new capture over what the folder had. After a cut at any point, the folder has the old or the new
/// capture whole.
void replace_capture(const std::filesystem::path& made, const std::filesystem::path& folder);

}  // namespace gputomo::capture
