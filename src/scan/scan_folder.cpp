#include "scan/scan_folder.hpp"

#include "scan/files.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace gputomo::scan {

namespace fs = std::filesystem;

namespace {

/// Creates the folder and finds out before the measurement whether its files can be written.
fs::path ready(fs::path folder) {
    files::check_writable_folder(folder);
    for (const auto name : {kMachineFile, kScanFile, kReportFile}) files::check_writable_in_set(folder / name);
    return folder;
}

/// The scan in a folder; nullopt where there is none.
std::optional<Scan> scan_in(const fs::path& folder) {
    const auto file = folder / kScanFile;
    auto set = files::read_set(folder);
    if (!set.problems.empty())
        throw InputError(
            fmt::format("{}; expected the files of one scan, or another folder", fmt::join(set.problems, "; ")));
    if (const auto listed = set.contents.find(std::string(kScanFile)); listed != set.contents.end())
        return scan_from_json(listed->second, file.string());
    std::error_code error;
    return fs::exists(file, error) ? std::optional(load_scan(file)) : std::nullopt;
}

}  // namespace

bool is_whole(const Scan& scan, bool merges) {
    return std::ranges::none_of(scan.records, [&](const Record& record) {
        using enum Status;
        return record.status == interrupted || record.status == timed_out || record.status == device_failed ||
               (merges && record.status != done);
    });
}

ScanFolder::ScanFolder(fs::path folder, const std::string& holder)
    : folder_(ready(std::move(folder))), lock_(folder_, holder) {}

std::optional<Scan> ScanFolder::whole_scan() const {
    auto scan = scan_in(folder_);
    std::error_code error;
    if (!scan && fs::exists(folder_ / kMachineFile, error))
        throw InputError(fmt::format(
            "{}: holds a {} and no {} that it comes from; expected both, or another folder, since a scan of some "
            "experiments (--only) is merged into both",
            folder_.string(), kMachineFile, kScanFile));
    return scan;
}

std::optional<Scan> ScanFolder::interrupted_scan() const { return scan_in(partial()); }

fs::path ScanFolder::set_interrupted_aside() const {
    std::error_code error;
    if (!fs::exists(partial(), error) || fs::is_empty(partial(), error)) return {};
    std::string date;
    try {
        if (const auto scan = interrupted_scan(); scan && scan->origin) date = scan->origin->date;
    } catch (const InputError&) {  // kept all the same
    }
    return files::set_aside(partial(), date);
}

void ScanFolder::save_partial(const std::vector<files::NamedContent>& files) const {
    std::error_code error;
    if (fs::create_directory(partial(), error)) files::real_files().sync_folder(folder_);
    files::OutputFolder(partial()).write(files);
}

void ScanFolder::save_whole(const std::vector<files::NamedContent>& files) const {
    files::OutputFolder(folder_).write(files);
    std::error_code error;
    fs::remove_all(partial(), error);
}

}  // namespace gputomo::scan
