#include "scan/files.hpp"

#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>

#include <fstream>

namespace gputomo::scan {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void cannot_write(const fs::path& file, std::string_view why) {
    throw InputError(fmt::format("{}: cannot be written: {}", file.string(), why));
}

/// Whether the file is a device such as /dev/stdout or /dev/null. Renaming a temporary file to that name would replace
/// the device, so it is written directly.
bool is_special(const fs::path& file) {
    std::error_code error;
    const auto status = fs::status(file, error);
    return fs::is_character_file(status) || fs::is_fifo(status) || fs::is_block_file(status) || fs::is_socket(status);
}

fs::path temporary_of(const fs::path& file) {
    fs::path temporary = file;
    return temporary += ".part";
}

bool write_to(const fs::path& file, std::string_view content) {
    std::ofstream out(file, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    return !out.fail();
}

void write_temporary(const fs::path& file, std::string_view content) {
    std::error_code error;
    if (fs::is_directory(file, error)) cannot_write(file, "it is a folder");
    if (write_to(temporary_of(file), content)) return;
    const bool no_folder = !fs::is_directory(fs::absolute(file).parent_path(), error);
    fs::remove(temporary_of(file), error);
    cannot_write(file, no_folder ? "its folder does not exist" : "the disk is full or the folder is not writable");
}

}  // namespace

Scan load_scan(const fs::path& file) { return scan_from_json(read_file(file, "a scan.json"), file.string()); }

void write_file(const fs::path& file, std::string_view content) {
    if (is_special(file)) {
        if (!write_to(file, content)) cannot_write(file, "the device accepts no more data");
        return;
    }
    write_temporary(file, content);
    std::error_code error;
    fs::rename(temporary_of(file), file, error);
    if (error) cannot_write(file, error.message());
}

void check_writable_file(const fs::path& file) {
    if (is_special(file)) return;
    write_temporary(file, {});
    std::error_code error;
    fs::remove(temporary_of(file), error);
}

void check_writable(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || !fs::is_directory(folder, error))
        throw InputError(
            fmt::format("{}: cannot be created as a folder; expected a folder for the results", folder.string()));
    check_writable_file(folder / "scan.json");
}

}  // namespace gputomo::scan
