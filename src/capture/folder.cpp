#include "capture/folder.hpp"

#include "capture/decompress.hpp"
#include "files/manifest.hpp"
#include "files/output_file.hpp"
#include "units/error.hpp"
#include "units/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>
#include <vector>

namespace gputomo::capture {

namespace fs = std::filesystem;

static_assert(files::kCaptureSchema == kSchema && files::kCaptureIndexName == std::string_view(kIndexFile));

namespace {

/// What the folder of a capture has while one is made, and after a command that was killed.
constexpr std::string_view kTemporary[] = {kJournalsFolder, kNewFolder};

std::set<fs::path> files_in(const fs::path& folder) {
    std::set<fs::path> names;
    for (const auto& file : fs::directory_iterator(folder)) names.insert(file.path().filename());
    return names;
}

}  // namespace

TemporaryFolder::TemporaryFolder(const fs::path& start) {
    std::string pattern = start.string() + "XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr)
        throw InputError(fmt::format("{}: cannot create a folder there ({})", pattern, std::strerror(errno)));
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void check_folder(const fs::path& folder) {
    files::check_writable_folder(folder);
    const bool is_unused = std::ranges::all_of(files_in(folder), [](const fs::path& name) {
        return std::ranges::any_of(kTemporary, [&](auto start) { return name.string().starts_with(start); });
    });
    if (files::holds_capture(folder) || is_unused) return;
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
    // The name of a file is the hash of its content, so that no new file replaces another one that the old index names.
    std::vector<fs::path> old;
    for (const char* const below : files::kCaptureFolders) {
        fs::create_directories(folder / below);
        const auto fresh = files_in(made / below);
        for (const auto& name : fresh) files::real_files().rename(made / below / name, folder / below / name);
        files::real_files().sync_folder(folder / below);
        for (const auto& name : files_in(folder / below))
            if (!fresh.contains(name)) old.push_back(folder / below / name);
    }
    files::real_files().rename(made / kIndexFile, folder / kIndexFile);
    files::real_files().sync_folder(folder);
    std::error_code ignored;  // a file too many does no harm
    for (const auto& file : old) fs::remove_all(file, ignored);
}

}  // namespace gputomo::capture
