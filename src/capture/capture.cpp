#include "capture/capture.hpp"

#include "capture/decompress.hpp"
#include "units/error.hpp"
#include "units/file.hpp"
#include "units/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace gputomo::capture {
namespace {

/// The largest index that is read: a million launches with their parameters.
constexpr std::size_t kLargestIndex = std::size_t{2} << 30;

void check_exists(const std::filesystem::path& file, std::string_view what) {
    if (!std::filesystem::is_regular_file(file))
        throw InputError(fmt::format("{}: missing; expected {} that {} names", file.string(), what, kIndexFile));
}

void repeat(std::string_view bytes, std::span<std::byte> out) {
    for (std::size_t at = 0; at < out.size(); at += bytes.size())
        std::memcpy(out.data() + at, bytes.data(), std::min(bytes.size(), out.size() - at));
}

}  // namespace

void generate(std::uint64_t address, std::span<std::byte> out) {
    for (std::size_t at = 0; at < out.size();) {
        const std::uint64_t inside = (address + at) % 4;
        const std::uint32_t word = generated_word(address + at - inside);
        const std::size_t bytes = std::min<std::size_t>(sizeof word - inside, out.size() - at);
        std::memcpy(out.data() + at, reinterpret_cast<const char*>(&word) + inside, bytes);
        at += bytes;
    }
}

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

void count_left_out(const Capture& capture, MemoryLimit& limit) {
    for (std::size_t i = 0; i < capture.launches.size(); ++i) {
        bool left_out = false;
        for (const auto* buffers : {&capture.launches[i].buffers, &capture.launches[i].results}) {
            if (!*buffers) continue;
            for (const auto& buffer : **buffers)
                if (buffer.omitted == kOmittedByLimit) {
                    left_out = true;
                    limit.bytes_left_out += buffer.bytes;
                }
        }
        if (left_out && limit.launches++ == 0) limit.first = i;
    }
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
    std::string bytes(buffer.bytes, '\0');
    read(buffer, std::as_writable_bytes(std::span(bytes)));
    return bytes;
}

void MemoryReader::read(const Buffer& buffer, std::span<std::byte> to) {
    if (!buffer.omitted.empty())
        throw InputError(fmt::format("the buffer at {:#x} has no content ({}); expected one to read", buffer.address,
                                     buffer.omitted));
    for (const auto& part : buffer.content) {
        const auto out = to.subspan(part.offset, part.bytes);
        if (part.generated)
            generate(buffer.address + part.offset, out);
        else if (part.fill)
            repeat({reinterpret_cast<const char*>(&*part.fill), sizeof *part.fill}, out);
        else
            repeat(std::string_view(file(part.file)).substr(part.at, part.period == 0 ? part.bytes : part.period), out);
    }
}

}  // namespace gputomo::capture
