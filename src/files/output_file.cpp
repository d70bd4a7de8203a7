#include "files/output_file.hpp"

#include "files/folder_lock.hpp"
#include "files/output_folder.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace gputomo::files {

namespace fs = std::filesystem;

namespace {

/// Whether the file is a device or a pipe. Renaming a file to that name would replace the device, so it is written
/// directly.
bool is_special(const fs::path& file) {
    std::error_code error;
    const auto status = fs::status(file, error);
    return fs::is_character_file(status) || fs::is_fifo(status) || fs::is_block_file(status) || fs::is_socket(status);
}

/// What a chain of symbolic links leads to, which need not exist. fs::canonical() finds only what exists.
fs::path followed(fs::path file) {
    constexpr int kMostLinks = 40;  // as the kernel follows at most (path_resolution(7))
    std::error_code error;
    for (int links = 0; fs::is_symlink(fs::symlink_status(file, error)); ++links) {
        if (links == kMostLinks)
            throw InputError(
                fmt::format("{}: cannot be written: more than {} symbolic links lead on from one to the "
                            "next; expected a file",
                            file.string(), kMostLinks));
        const auto target = fs::read_symlink(file);
        file = target.is_absolute() ? target : folder_of(file) / target;
    }
    return file;
}

/// The name under which a file is written first. It has the number of the process, since nothing keeps two of them from
/// writing the same file.
fs::path beside(const fs::path& file) {
    fs::path name = file;
    return name += fmt::format(".{}{}", getpid(), kPartSuffix);
}

void refuse_folder(const fs::path& file) {
    std::error_code error;
    if (fs::is_directory(file, error))
        throw InputError(fmt::format("{}: cannot be written: it is a folder; expected a file", file.string()));
}

/// Writes beside the file; a failure leaves nothing behind.
void write_beside(const fs::path& file, std::string_view content, FileSystem& system) {
    refuse_folder(file);
    try {
        write_and_sync(system, beside(file), content);
    } catch (const Error&) {
        system.remove(beside(file));
        throw;
    }
}

/// Throws InputError for a file of a set. Written alone, it would no longer fit the others.
void refuse_file_of_set(const fs::path& file, const FileSystem& system) {
    const auto index = index_of_set(file, system);
    if (index.empty()) return;
    throw InputError(
        fmt::format("{}: cannot be written: it belongs to the files that {} lists, and only the command that made "
                    "them replaces them, all together; expected another name",
                    file.string(), index.string()));
}

void replace_alone(const fs::path& target, std::string_view content, FileSystem& system) {
    write_beside(target, content, system);
    system.rename(beside(target), target);
    system.sync_folder(folder_of(target));
}

}  // namespace

void write_whole(const fs::path& file, std::string_view content, FileSystem& system) {
    if (is_special(file)) return write_and_sync(system, file, content);
    const auto target = followed(file);
    refuse_folder(target);
    refuse_file_of_set(target, system);
    replace_alone(target, content, system);
}

void write_in_set(const fs::path& file, std::string_view content, FileSystem& system) {
    if (is_special(file)) return write_and_sync(system, file, content);
    const auto target = followed(file);
    refuse_folder(target);
    if (index_of_set(target, system).empty()) return replace_alone(target, content, system);
    const FolderLock lock(folder_of(target), "writing " + target.filename().string());
    OutputFolder(folder_of(target), system).write({{target.filename().string(), std::string(content)}});
}

void check_writable_file(const fs::path& file) {
    if (is_special(file)) return;
    refuse_file_of_set(followed(file), real_files());
    check_writable_in_set(file);
}

void check_writable_in_set(const fs::path& file) {
    if (is_special(file)) return;
    const auto target = followed(file);
    write_beside(target, {}, real_files());
    real_files().remove(beside(target));
}

void check_writable_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || !fs::is_directory(folder, error))
        throw InputError(
            fmt::format("{}: cannot be created as a folder; expected a folder for the results", folder.string()));
    check_writable_in_set(folder / kManifestName);
}

void refuse_inputs(std::string_view option, const fs::path& output, const std::vector<std::string>& inputs) {
    struct stat out = {};
    if (stat(output.c_str(), &out) != 0 || !S_ISREG(out.st_mode)) return;
    for (const auto& input : inputs) {
        struct stat in = {};
        if (stat(input.c_str(), &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            throw InputError(fmt::format("{} {}: is the input {}, which writing would destroy; expected another file",
                                         option, output.string(), input));
    }
}

fs::path set_aside(const fs::path& folder, std::string_view date) {
    std::string name(date);
    std::erase_if(name, [](char c) { return (c < '0' || c > '9') && c != 'T' && c != 'Z'; });
    if (name.empty()) name = "earlier";
    const auto numbered = [&](int n) {
        fs::path aside = folder;
        return aside += n == 1 ? "-" + name : fmt::format("-{}-{}", name, n);
    };
    std::error_code error;
    int n = 1;
    while (fs::exists(numbered(n), error)) ++n;
    real_files().rename(folder, numbered(n));
    real_files().sync_folder(folder_of(folder));
    return numbered(n);
}

fs::path partial_of(const fs::path& file) { return file.parent_path() / ("partial-" + file.filename().string()); }

CheckedContent read_checked(const fs::path& file, std::string_view expected) {
    const auto name = file.filename().string();
    if (is_special(file)) return {read_file(file, expected), {}};
    auto set = read_set(folder_of(file));
    if (!set.listed || !set.manifest.contains(name)) return {read_file(file, expected), {}};
    if (const auto whole = set.contents.find(name); whole != set.contents.end())
        return {std::move(whole->second), std::move(set.problems)};
    return {read_file(file, expected), std::move(set.problems)};
}

}  // namespace gputomo::files
