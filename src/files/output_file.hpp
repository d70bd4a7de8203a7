// Writes single files so that a reader finds the old or the new content, and checks before a long measurement that
// they can be written.
#pragma once

#include "files/file_system.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gputomo::files {

/// Replaces the file: writes beside it, synchronises and renames. A symbolic link is followed, and what it points to is
/// replaced. A device such as /dev/stdout is written directly. Throws InputError for a file of a set, such as the
/// description of a scan. Throws as FileSystem does, and the old file is then unchanged.
void write_whole(const std::filesystem::path& file, std::string_view content, FileSystem& system = real_files());
/// Replaces a file of the set that a manifest in its folder lists, and changes the manifest with it. Only what makes
/// the set may do so; a file that no manifest lists is replaced alone.
void write_in_set(const std::filesystem::path& file, std::string_view content, FileSystem& system = real_files());

/// Tries to write beside the file and leaves its content alone. Throws InputError naming the file, also for a file of a
/// set, which write_whole() refuses.
void check_writable_file(const std::filesystem::path& file);
/// Tries to write beside a file that write_in_set() or OutputFolder is going to replace. Throws InputError naming it.
void check_writable_in_set(const std::filesystem::path& file);
/// Creates the folder and tries to write in it. Throws InputError naming the folder.
void check_writable_folder(const std::filesystem::path& folder);

/// Throws InputError where `output` is one of the inputs, under whatever name: writing it would destroy the input.
/// `option` names the output on the command line, such as "--out".
void refuse_inputs(std::string_view option, const std::filesystem::path& output,
                   const std::vector<std::string>& inputs);

/// The folder, within that of earlier results, of a measurement that was cut short.
inline constexpr std::string_view kPartialFolder = "partial";
/// Renames a folder of earlier results so that nothing replaces them, and returns the new name. The name has the digits
/// of `date`: "partial" becomes "partial-20261123T104449Z", or "partial-earlier" where the date is empty.
std::filesystem::path set_aside(const std::filesystem::path& folder, std::string_view date);

/// Where the results of a measurement that was cut short go, beside what it would have replaced: "partial-surface.json"
/// for "surface.json".
[[nodiscard]] std::filesystem::path partial_of(const std::filesystem::path& file);

/// The content of a file and what a user should know of it.
struct CheckedContent {
    std::string content;
    std::vector<std::string> problems;  ///< how files that belong together do not fit their manifest
};
/// Reads a file as read_file() does. Where a manifest in its folder lists it, the file is compared with the manifest,
/// and the other files that belong to it are as well. After a write that was cut off it is the file of the whole set.
[[nodiscard]] CheckedContent read_checked(const std::filesystem::path& file, std::string_view expected);

}  // namespace gputomo::files
