// A lock on a folder, so that two programs do not write their results into it at the same time.
#pragma once

#include <filesystem>
#include <string>

namespace gputomo::files {

inline constexpr const char* kLockName = ".lock";

/// Holds the lock until it is destroyed or the process ends, however it ends.
class FolderLock {
public:
    /// Throws InputError naming the folder and its holder where another process, or another lock of this process, has
    /// it. `holder` says for people who holds the lock: the command line, for example.
    FolderLock(const std::filesystem::path& folder, const std::string& holder);
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    ~FolderLock();

private:
    std::filesystem::path file_;
    int handle_ = -1;
};

}  // namespace gputomo::files
