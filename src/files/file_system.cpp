#include "files/file_system.hpp"

#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gputomo::files {

namespace fs = std::filesystem;

namespace {

/// Whether another path would help, so that the command line is to blame and not the disk.
bool blames_path(int error) {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
        case EISDIR:
        case EACCES:
        case EPERM:
        case EROFS:
        case ELOOP:
        case ENAMETOOLONG: return true;
        default: return false;
    }
}

/// The name that the user knows: "report.html" for "report.html.part" and "report.html.1234.part".
std::string name_when_whole(std::string name) {
    if (!name.ends_with(kPartSuffix)) return name;
    name.resize(name.size() - kPartSuffix.size());
    const auto last = name.find_last_not_of("0123456789");
    if (last != std::string::npos && last + 1 < name.size() && name[last] == '.') name.resize(last);
    return name;
}

[[noreturn]] void fail(const fs::path& file, int error) {
    const std::string shown = name_when_whole(file.string());
    if (error == ENOENT) throw InputError(fmt::format("{}: cannot be written: its folder does not exist", shown));
    if (error == EISDIR) throw InputError(fmt::format("{}: cannot be written: it is a folder", shown));
    const auto text = fmt::format("{}: cannot be written: {}", shown, std::strerror(error));
    if (blames_path(error)) throw InputError(text);
    throw Error(text + "; an earlier file of this name is unchanged");
}

/// Returns the error; 0 where the content is on the disk. A signal does not end it early. Devices, pipes and the
/// folders of some network file systems have nothing to synchronise.
int synchronised(int handle) {
    for (;;) {
        if (fsync(handle) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP) return 0;
        if (errno != EINTR) return errno;
    }
}

/// A new file takes the permissions of the one that it replaces. Where they cannot be set, it has the usual ones.
void keep_permissions(const fs::path& from, const fs::path& to) {
    struct stat old = {};
    constexpr mode_t kPermissions = 07777;
    if (stat(to.c_str(), &old) == 0 && S_ISREG(old.st_mode))
        static_cast<void>(chmod(from.c_str(), old.st_mode & kPermissions) == 0);
}

class RealFiles final : public FileSystem {
public:
    OpenFile create(const fs::path& file) override {
        const int handle = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (handle < 0) fail(file, errno);
        return {file, handle};
    }
    std::size_t write(const OpenFile& file, std::string_view content) override {
        for (;;) {
            const auto written = ::write(file.handle, content.data(), content.size());
            if (written > 0) return static_cast<std::size_t>(written);
            if (written == 0) fail(file.name, EIO);
            if (errno != EINTR) fail(file.name, errno);
        }
    }
    void sync(const OpenFile& file) override {
        if (const int error = synchronised(file.handle); error != 0) fail(file.name, error);
    }
    void close(const OpenFile& file) override {
        if (::close(file.handle) != 0 && errno != EINTR) fail(file.name, errno);
    }
    void rename(const fs::path& from, const fs::path& to) override {
        keep_permissions(from, to);
        if (std::rename(from.c_str(), to.c_str()) != 0) fail(to, errno);
    }
    void remove(const fs::path& file) override {
        if (unlink(file.c_str()) != 0 && errno != ENOENT) fail(file, errno);
    }
    void sync_folder(const fs::path& folder) override {
        const int handle = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (handle < 0) fail(folder, errno);
        const int error = synchronised(handle);
        ::close(handle);
        if (error != 0) fail(folder, error);
    }
    [[nodiscard]] std::optional<std::string> read(const fs::path& file) const override {
        std::error_code error;
        if (!fs::is_regular_file(file, error)) return std::nullopt;
        try {
            return read_file(file, "a file that can be read");
        } catch (const InputError&) {
            return std::nullopt;
        }
    }
};

}  // namespace

FileSystem& real_files() {
    static RealFiles files;  // it has no state
    return files;
}

void write_and_sync(FileSystem& system, const fs::path& file, std::string_view content) {
    const OpenFile open = system.create(file);
    try {
        while (!content.empty()) content.remove_prefix(system.write(open, content));
        system.sync(open);
    } catch (const Error&) {
        system.close(open);
        throw;
    }
    system.close(open);
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

}  // namespace gputomo::files
