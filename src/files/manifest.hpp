// The manifest of a folder: which files belong together, by size and SHA-256. It is the last file to be written.
#pragma once

#include "files/file_system.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::files {

inline constexpr std::string_view kManifestSchema = "gputomo-manifest-1";
inline constexpr std::string_view kManifestName = "manifest.json";

struct Listed {
    std::uint64_t bytes = 0;
    std::string sha256;
    bool operator==(const Listed&) const = default;
};

/// The files of a set by their names in the folder.
using Manifest = std::map<std::string, Listed>;

[[nodiscard]] Listed listing_of(std::string_view content);
[[nodiscard]] std::string to_json(const Manifest& manifest);
/// Nothing for text that is no manifest, such as one that was cut off.
[[nodiscard]] std::optional<Manifest> manifest_from_json(std::string_view text);

/// The files of a folder as a reader may use them.
struct FileSet {
    bool listed = false;                          ///< whether the folder has a manifest
    Manifest manifest;                            ///< empty without one
    std::map<std::string, std::string> contents;  ///< of all listed files, if no problem was found
    std::vector<std::string> problems;            ///< one sentence for each listed file that does not fit
};

/// Reads all files that the folder's manifest lists and compares them with it. The last write may have been cut off
/// between its first and its last renaming. The set is then the new one, whose files may still have the names of
/// unfinished files. A set that is replaced while it is read is read again.
[[nodiscard]] FileSet read_set(const std::filesystem::path& folder, const FileSystem& system = real_files());

/// What lists the set of files that a file belongs to: a manifest, or the index of a capture with its modules and its
/// memory. Empty for a file that belongs to none. The index itself belongs to its set.
[[nodiscard]] std::filesystem::path index_of_set(const std::filesystem::path& file,
                                                 const FileSystem& system = real_files());

/// The index of a capture, and the folders beside it that hold its other files.
inline constexpr const char* kCaptureIndexName = "capture.json";
inline constexpr std::string_view kCaptureSchema = "gputomo-capture-1";
inline constexpr const char* kCaptureFolders[] = {"modules", "memory"};

/// Whether a folder holds a capture, by the schema that its index names.
[[nodiscard]] bool holds_capture(const std::filesystem::path& folder);

}  // namespace gputomo::files
