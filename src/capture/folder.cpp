#include "capture/folder.hpp"

#include "capture/decompress.hpp"
#include "files/file_system.hpp"
#include "units/error.hpp"
#include "units/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace gputomo::capture {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(std::string pattern) {
    if (mkdtemp(pattern.data()) == nullptr)
        throw InputError(fmt::format("{}: cannot create a folder there ({})", pattern, std::strerror(errno)));
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void check_folder(const fs::path& folder) {
    fs::create_directories(folder);
    if (fs::is_empty(folder) || fs::exists(folder / kIndexFile)) return;
    throw InputError(
        fmt::format("{}: the folder holds something that is not a capture; expected a new or empty folder, or one with "
                    "a capture, which is replaced",
                    folder.string()));
}

int add_module(const fs::path& folder, std::vector<Module>& modules, std::string_view code, std::string_view format) {
    Module module;
    module.sha256 = sha256(code);
    const auto known = std::ranges::find(modules, module.sha256, &Module::sha256);
    if (known != modules.end()) return static_cast<int>(known - modules.begin());
    module.format = format;
    module.file = fmt::format("modules/{}.{}", module.sha256, module.format);
    module.bytes = code.size();
    files::write_and_sync(files::real_files(), folder / module.file, code);
    modules.push_back(std::move(module));
    return static_cast<int>(modules.size()) - 1;
}

MemoryFile add_memory(const fs::path& folder, std::vector<MemoryFile>& files, std::string_view content,
                      Compression compression) {
    MemoryFile file{fmt::format("memory/{}.bin", sha256(content)), content.size()};
    if (std::ranges::find(files, file.file, &MemoryFile::file) == files.end()) {
        files::write_and_sync(files::real_files(), folder / file.file,
                              deflated(content, compression == Compression::best));
        files.push_back(file);
    }
    return file;
}

void make_folders(const fs::path& folder) {
    fs::create_directories(folder / "modules");
    fs::create_directories(folder / "memory");
}

void write_index(const fs::path& folder, const Capture& capture) {
    files::write_and_sync(files::real_files(), folder / kIndexFile, to_json(capture));
}

void replace_capture(const fs::path& made, const fs::path& folder) {
    for (const char* const name : {kIndexFile, "modules", "memory"}) fs::remove_all(folder / name);
    for (const char* const name : {"modules", "memory", kIndexFile})
        files::real_files().rename(made / name, folder / name);
}

}  // namespace gputomo::capture
