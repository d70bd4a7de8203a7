// The operations with which outputs reach the disk, as an interface, so that tests can stop them anywhere.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace gputomo::files {

/// What a file is called until it is whole, after its name.
inline constexpr std::string_view kPartSuffix = ".part";

/// A file that is being written.
struct OpenFile {
    std::filesystem::path name;
    int handle = -1;
};

/// Each operation that fails throws Error with the file and the reason of the operating system. Where the path is at
/// fault, it throws InputError: the folder is missing, the file is a folder, or it may not be written.
class FileSystem {
public:
    FileSystem() = default;
    FileSystem(const FileSystem&) = delete;
    FileSystem& operator=(const FileSystem&) = delete;
    virtual ~FileSystem() = default;

    /// Creates an empty file, or empties an existing one.
    virtual OpenFile create(const std::filesystem::path& file) = 0;
    /// Appends at least one byte of `content`, which is not empty, and returns the number of bytes written.
    virtual std::size_t write(const OpenFile& file, std::string_view content) = 0;
    /// Returns when the content is on the disk.
    virtual void sync(const OpenFile& file) = 0;
    virtual void close(const OpenFile& file) = 0;

    /// Replaces `to` where it exists, and takes its permissions.
    virtual void rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
    /// Removes a file where there is one.
    virtual void remove(const std::filesystem::path& file) = 0;
    /// Returns when the names that were created, renamed and removed in the folder are on the disk.
    virtual void sync_folder(const std::filesystem::path& folder) = 0;

    /// The content of a file; nullopt where there is none or it cannot be read.
    [[nodiscard]] virtual std::optional<std::string> read(const std::filesystem::path& file) const = 0;
};

/// The files of this computer.
[[nodiscard]] FileSystem& real_files();

/// Creates `file` with this content and returns when it is on the disk. A failure leaves an incomplete file behind,
/// which the caller removes.
void write_and_sync(FileSystem& system, const std::filesystem::path& file, std::string_view content);

/// The folder that a file lies in; "." for a name alone.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& file);

}  // namespace gputomo::files
