#include "capture/reduce/kept_memory.hpp"

#include "capture/folder.hpp"
#include "units/sha256.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gputomo::capture {
namespace {

/// Contents that lie this close are stored as one, since each takes a line of the index.
constexpr std::uint64_t kGap = 1024;
/// Bytes of memory in one file, before compression.
constexpr std::uint64_t kFile = std::uint64_t{4} << 20;

/// A run of bytes of a buffer with one kind of content.
struct Run {
    std::uint64_t offset = 0, bytes = 0;
    Held held = Held::own;
    bool operator==(const Run&) const = default;
};

/// The parts of a buffer's old content by what is now in their place. Fills stay as they are.
std::vector<Run> runs_of(const Region& region) {
    std::vector<Run> runs;
    for (std::uint64_t unit = 0; unit < region.held.size(); ++unit) {
        const std::uint64_t offset = unit * kUnit, bytes = std::min(kUnit, region.bytes - offset);
        if (!runs.empty() && runs.back().held == region.held[unit])
            runs.back().bytes += bytes;
        else
            runs.push_back({offset, bytes, region.held[unit]});
    }
    // A short run between two that are kept is kept too.
    for (std::size_t i = 1; i + 1 < runs.size(); ++i)
        if (runs[i].held != Held::own && runs[i].bytes <= kGap && runs[i - 1].held == Held::own &&
            runs[i + 1].held == Held::own)
            runs[i].held = Held::own;
    std::vector<Run> joined;
    for (const Run& run : runs) {
        if (!joined.empty() && joined.back().held == run.held)
            joined.back().bytes += run.bytes;
        else
            joined.push_back(run);
    }
    return joined;
}

/// The bytes that begin to repeat at `offset`.
std::string tile(const Region& region, std::uint64_t offset, std::uint64_t period_or_less) {
    const std::uint64_t period = period_of(region.held[offset / kUnit]);
    std::string bytes(period_or_less, '\0');
    for (std::uint64_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(region.original[region.tile_source(offset + i, period)]);
    return bytes;
}

/// Parts with neighbours of their kind as one: a capture cuts contents into pieces.
std::vector<Content> joined(const std::vector<Content>& parts) {
    std::vector<Content> all;
    for (const auto& part : parts) {
        const bool is_stored = !part.fill && !part.generated;
        if (is_stored && !all.empty() && !all.back().fill && !all.back().generated)
            all.back().bytes += part.bytes;
        else
            all.push_back(part);
    }
    return all;
}

void place(Buffer& buffer, const std::vector<MemoryFile>& files) {
    std::vector<Content> placed;
    for (const auto& part : buffer.content) {
        if (part.fill || part.generated) {
            placed.push_back(part);
            continue;
        }
        if (part.period != 0) {
            // Kept::add() puts no tile across the end of a file.
            placed.push_back(part);
            placed.back().file = files[part.at / kFile].file;
            placed.back().at = part.at % kFile;
            continue;
        }
        for (std::uint64_t done = 0; done < part.bytes;) {
            const std::uint64_t at = part.at + done, bytes = std::min(part.bytes - done, kFile - at % kFile);
            placed.push_back(
                {.offset = part.offset + done, .bytes = bytes, .file = files[at / kFile].file, .at = at % kFile});
            done += bytes;
        }
    }
    buffer.content = std::move(placed);
}

}  // namespace

Content KeptMemory::add(std::uint64_t offset, std::string_view bytes) {
    const auto [at, is_new] = places_.try_emplace(sha256(bytes), all_.size());
    if (is_new) {
        // Contents that fit into a file lie in one.
        if (bytes.size() <= kFile && all_.size() % kFile + bytes.size() > kFile)
            all_.resize((all_.size() + kFile - 1) / kFile * kFile);
        at->second = all_.size();
        all_ += bytes;
    }
    return {.offset = offset, .bytes = bytes.size(), .at = at->second};
}

void KeptMemory::write(const std::filesystem::path& folder, Capture& capture) const {
    std::vector<MemoryFile> files;
    for (std::uint64_t at = 0; at < all_.size(); at += kFile)
        files.push_back(
            capture::add_memory(folder, capture.memory, std::string_view(all_).substr(at, kFile), Compression::best));
    for (auto& launch : capture.launches)
        for (auto* buffers : {&launch.buffers, &launch.results})
            if (*buffers)
                for (auto& buffer : **buffers) place(buffer, files);
}

std::uint64_t keep_whole(Buffer& buffer, MemoryReader& reader, KeptMemory& kept) {
    if (!buffer.omitted.empty()) return 0;
    std::uint64_t bytes = 0;
    const std::string content = reader.read(buffer);
    for (auto& part : buffer.content) {
        if (part.fill || part.generated) continue;
        part = kept.add(part.offset, std::string_view(content).substr(part.offset, part.bytes));
        bytes += part.bytes;
    }
    return bytes;
}

std::uint64_t keep_held(Buffer& buffer, const Region& region, KeptMemory& kept) {
    std::uint64_t bytes = 0;
    const std::vector<Content> old = joined(buffer.content);
    buffer.content.clear();
    const auto add = [&](Content part) {
        auto& list = buffer.content;
        const bool continues =
            !list.empty() && ((part.generated && list.back().generated) ||
                              (part.fill && list.back().fill == part.fill && list.back().bytes % 8 == 0));
        if (continues)
            list.back().bytes += part.bytes;
        else
            list.push_back(std::move(part));
    };
    const auto runs = runs_of(region);
    for (const auto& part : old) {
        if (part.fill || part.generated) {
            add(part);
            continue;
        }
        auto run = std::ranges::upper_bound(runs, part.offset, {}, &Run::offset) - 1;
        for (std::uint64_t at = part.offset; at < part.offset + part.bytes; ++run) {
            const std::uint64_t length = std::min(part.offset + part.bytes, run->offset + run->bytes) - at;
            if (run->held == Held::own) {
                add(kept.add(at, {reinterpret_cast<const char*>(region.original.data()) + at, length}));
                bytes += length;
            } else if (run->held == Held::generated) {
                add({.offset = at, .bytes = length, .generated = true});
            } else if (const auto period = period_of(run->held); period != 0) {
                Content part = kept.add(at, tile(region, at, std::min(length, period)));
                bytes += part.bytes;
                if (part.bytes < length) part.period = period;
                part.bytes = length;
                add(std::move(part));
            } else {
                add({.offset = at, .bytes = length, .fill = 0});
            }
            at += length;
        }
    }
    return bytes;
}

}  // namespace gputomo::capture
