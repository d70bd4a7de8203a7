// The folder of a scan: its whole results, and in partial/ those of a scan that has not ended.
#pragma once

#include "files/folder_lock.hpp"
#include "files/output_file.hpp"
#include "files/output_folder.hpp"
#include "scan/runner.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::scan {

inline constexpr std::string_view kScanFile = "scan.json";
inline constexpr std::string_view kMachineFile = "machine.json";
inline constexpr std::string_view kReportFile = "report.html";

/// Whether the results of a scan replace those in its folder. Those of a scan that was interrupted, reached a time
/// limit or lost its device do not. A scan that is merged into another one (`merges`) must have all of its experiments.
[[nodiscard]] bool is_whole(const Scan& scan, bool merges);

class ScanFolder {
public:
    /// Creates the folder where it is missing and locks it. Throws InputError where it cannot be written or another
    /// process writes to it; `holder` then names this one.
    ScanFolder(std::filesystem::path folder, const std::string& holder);

    [[nodiscard]] std::filesystem::path partial() const { return folder_ / files::kPartialFolder; }

    /// The scan in the folder; nullopt where there is none. Throws InputError where its files do not belong together,
    /// or there is a description and no scan that it comes from.
    [[nodiscard]] std::optional<Scan> whole_scan() const;
    /// The scan that was interrupted; nullopt where there is none.
    [[nodiscard]] std::optional<Scan> interrupted_scan() const;

    /// Renames partial/ so that a new scan does not overwrite it, and returns its new path; empty where there is none.
    [[nodiscard]] std::filesystem::path set_interrupted_aside() const;
    void save_partial(const std::vector<files::NamedContent>& files) const;
    /// Replaces the files of the folder together, and removes partial/.
    void save_whole(const std::vector<files::NamedContent>& files) const;

private:
    std::filesystem::path folder_;
    files::FolderLock lock_;
};

}  // namespace gputomo::scan
