// A folder whose files are replaced together: after a cut at any point, readers find the old or the new set whole.
#pragma once

#include "files/manifest.hpp"

#include <string>
#include <vector>

namespace gputomo::files {

struct NamedContent {
    std::string name;  ///< of the file in the folder
    std::string content;
};

/// Writes sets of files into one folder. Only one process may write to a folder at a time: see FolderLock.
class OutputFolder {
public:
    /// The folder must exist.
    explicit OutputFolder(std::filesystem::path folder, FileSystem& system = real_files());

    /// Replaces these files together. Files that the manifest lists beside them stay listed unless they are missing.
    /// Each file is first written and synchronised beside the old one, then the new manifest. After that, each file is
    /// renamed, and the manifest last. Throws as FileSystem does; what stood in the folder is then unchanged, or whole
    /// as read_set() finds it.
    void write(const std::vector<NamedContent>& files);

private:
    [[nodiscard]] std::filesystem::path at(std::string_view name) const { return folder_ / name; }
    [[nodiscard]] std::filesystem::path part_of(std::string_view name) const;
    void settle();
    void finish(const Manifest& manifest);
    void prepare(const std::vector<NamedContent>& files, const Manifest& manifest);

    std::filesystem::path folder_;
    FileSystem& system_;
};

}  // namespace gputomo::files
