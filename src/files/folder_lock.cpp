#include "files/folder_lock.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace gputomo::files {

namespace fs = std::filesystem;

namespace {

/// Who holds the lock, as its file says; the file may be empty for a moment after it was made.
std::string holder_in(int handle) {
    std::array<char, 4096> text{};
    const auto size = pread(handle, text.data(), text.size(), 0);
    return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string("another process");
}

/// Whether the open file is still the one of this name. The holder of a lock removes the file when it ends, and who
/// waited for that file must open the new one.
bool is_current(int handle, const fs::path& file) {
    struct stat open = {}, named = {};
    return fstat(handle, &open) == 0 && stat(file.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
           open.st_ino == named.st_ino;
}

/// Some network file systems have no locks. Results are then still written whole, but not one writer after another.
bool has_no_locks(int error) { return error == ENOLCK || error == ENOTSUP || error == ENOSYS; }

}  // namespace

FolderLock::FolderLock(const fs::path& folder, const std::string& holder) : file_(folder / kLockName) {
    for (;;) {
        handle_ = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (handle_ < 0)
            throw InputError(fmt::format("{}: cannot be locked for writing: {}; expected a folder for the results",
                                         folder.string(), std::strerror(errno)));
        if (flock(handle_, LOCK_EX | LOCK_NB) != 0 && !has_no_locks(errno)) {
            const auto who = holder_in(handle_);
            close(handle_);
            throw InputError(
                fmt::format("{}: another gputomo writes to this folder: {}; expected a folder of its own (--out), or "
                            "wait until that one has ended",
                            folder.string(), who));
        }
        if (is_current(handle_, file_)) break;
        close(handle_);
    }
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    const auto text = fmt::format("process {} on {} ({})", getpid(), host.data(), holder);
    // The text only informs, so that a disk without space for it does not matter.
    if (ftruncate(handle_, 0) == 0) static_cast<void>(pwrite(handle_, text.data(), text.size(), 0) > 0);
}

FolderLock::~FolderLock() {
    unlink(file_.c_str());
    close(handle_);
}

}  // namespace gputomo::files
