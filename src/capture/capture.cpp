#include "capture/capture.hpp"

#include "capture/decompress.hpp"
#include "units/error.hpp"
#include "units/file.hpp"
#include "units/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::capture {
namespace {

/// The largest index that is read: a million launches with their parameters.
constexpr std::size_t kLargestIndex = std::size_t{2} << 30;

void check_exists(const std::filesystem::path& file, std::string_view what) {
    if (!std::filesystem::is_regular_file(file))
        throw InputError(fmt::format("{}: missing; expected {} that {} names", file.string(), what, kIndexFile));
}

}  // namespace

Capture load(const std::filesystem::path& folder) {
    const auto index = folder / kIndexFile;
    if (!std::filesystem::is_regular_file(index))
        throw InputError(fmt::format("{}: found no {}; expected a folder that `gputomo capture --out` has written",
                                     folder.string(), kIndexFile));
    Capture capture = from_json(read_file(index, "the index of a capture", kLargestIndex), index.string());
    for (const auto& module : capture.modules) check_exists(folder / module.file, "a module");
    for (const auto& file : capture.memory) check_exists(folder / file.file, "contents of memory");
    capture.folder = folder;
    return capture;
}

std::string read_module(const Capture& capture, const Module& module) {
    const auto file = capture.folder / module.file;
    std::string code = read_file(file, "a captured module");
    if (const auto found = sha256(code); found != module.sha256)
        throw InputError(fmt::format("{}: found SHA-256 {}; expected {}, the module that was captured", file.string(),
                                     found, module.sha256));
    return code;
}

const std::string& MemoryReader::file(const std::string& name) {
    if (name == name_) return content_;
    const auto known = std::ranges::find(capture_.memory, name, &MemoryFile::file);
    if (known == capture_.memory.end()) throw InputError(fmt::format("{}: not a file of the capture", name));
    if (known->bytes > kLargestFile)
        throw InputError(fmt::format("{}: {} bytes; expected at most {}", name, known->bytes, kLargestFile));
    const auto path = capture_.folder / name;
    content_ = inflated(read_file(path, "contents of memory"), known->bytes, path.string());
    name_ = name;
    return content_;
}

std::string MemoryReader::read(const Buffer& buffer) {
    if (!buffer.omitted.empty())
        throw InputError(fmt::format("the buffer at {:#x} has no content ({}); expected one to read", buffer.address,
                                     buffer.omitted));
    std::string bytes;
    for (const auto& part : buffer.content) {
        if (!part.fill) {
            bytes.append(file(part.file), part.at, part.bytes);
            continue;
        }
        for (std::uint64_t i = 0; i < part.bytes; ++i) bytes += static_cast<char>(*part.fill >> 8 * (i % 8));
    }
    return bytes;
}

}  // namespace gputomo::capture
