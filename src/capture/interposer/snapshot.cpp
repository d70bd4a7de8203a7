#include "capture/interposer/snapshot.hpp"

#include "capture/interposer/driver.hpp"
#include "capture/interposer/text.hpp"
#include "capture/interposer/textures.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <set>

namespace gputomo::capture {
namespace {

/// Bytes copied from the GPU at once.
constexpr std::size_t kStaging = std::size_t{8} << 20;
/// Bytes that may be copied and compared for each byte that may be stored: equal contents are found only by copying.
constexpr std::uint64_t kCopiesPerStored = 16;

const char* name_of(Space space) {
    switch (space) {
        case Space::host: return "host";
        case Space::variable: return "variable";
        case Space::array: return "array";
        default: return "device";
    }
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t offset) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + offset, std::min(sizeof(word), bytes.size() - offset));
    return word;
}

/// Whether the bytes repeat their first eight.
bool is_fill(std::span<const std::byte> chunk) {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    return chunk.size() <= kWord || std::memcmp(chunk.data(), chunk.data() + kWord, chunk.size() - kWord) == 0;
}

}  // namespace

abi::Stream Snapshot::stream_of(abi::Context context) {
    auto [at, is_new] = streams_.try_emplace(context, nullptr);
    if (is_new && driver().stream_create(&at->second, abi::kStreamNonBlocking) != abi::kSuccess) at->second = nullptr;
    return at->second;
}

void Snapshot::forget_streams() {
    const std::scoped_lock guard(lock_);
    streams_.clear();
}

bool Snapshot::copy(std::uint64_t address, std::span<std::byte> to, Space space, abi::Context context) {
    if (space == Space::host) {
        std::memcpy(to.data(), reinterpret_cast<const void*>(address), to.size());
        return true;
    }
    const abi::Stream stream = stream_of(context);
    return stream != nullptr && driver().copy_to_host(to.data(), address, to.size(), stream) == abi::kSuccess &&
           driver().stream_synchronize(stream) == abi::kSuccess;
}

void Snapshot::store(std::span<const std::byte> chunk, std::uint64_t offset, std::vector<Part>& parts) {
    Part part{offset, chunk.size(), is_fill(chunk), word_at(chunk, 0)};
    if (!part.fill) {
        const auto hash = XXH3_128bits(chunk.data(), chunk.size());
        const auto [at, is_new] = positions_.try_emplace(Key{hash.low64 ^ chunk.size(), hash.high64}, 0);
        if (is_new) {
            at->second = journal_.append(chunk);
            stored_ += chunk.size();
        }
        part.value = at->second;
    }
    if (!parts.empty()) {
        Part& last = parts.back();
        const bool continues = part.fill ? last.fill && last.value == part.value && last.bytes % 8 == 0
                                         : !last.fill && last.value + last.bytes == part.value;
        if (continues) {
            last.bytes += part.bytes;
            return;
        }
    }
    parts.push_back(part);
}

void Snapshot::follow(std::span<const std::byte> content, std::vector<Allocation>& found) const {
    const auto [first, end] = map_.bounds();
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= content.size(); at += sizeof(std::uint64_t)) {
        const std::uint64_t value = word_at(content, at);
        if (value < first || value >= end) continue;
        if (!found.empty() && value - found.back().address < found.back().bytes) continue;  // often the same again
        if (const auto buffer = map_.around(value)) found.push_back(*buffer);
    }
}

std::string Snapshot::content(const Allocation& buffer, abi::Context context, std::vector<Allocation>& found) {
    if (stored_ + buffer.bytes > limit_ || copied_ + buffer.bytes > kCopiesPerStored * limit_)
        return "\"omitted\":\"memory limit\"";
    staging_.resize(kStaging);
    std::vector<Part> parts;
    // An array is copied at once: a piece of it need not end with a row.
    std::vector<std::byte> array(buffer.space == Space::array ? buffer.bytes : 0);
    if (!array.empty() && !copy_array(buffer.array, array.data(), stream_of(context)))
        return "\"omitted\":\"unreadable\"";
    const std::uint64_t from = array.empty() ? buffer.address : reinterpret_cast<std::uint64_t>(array.data());
    const Space space = array.empty() ? buffer.space : Space::host;
    for (std::uint64_t done = 0; done < buffer.bytes;) {
        const auto piece = std::span(staging_).first(std::min<std::uint64_t>(kStaging, buffer.bytes - done));
        if (!copy(from + done, piece, space, context)) return "\"omitted\":\"unreadable\"";
        copied_ += piece.size();
        for (std::size_t at = 0; at < piece.size(); at += kChunk)
            store(piece.subspan(at, std::min(kChunk, piece.size() - at)), done + at, parts);
        follow(piece, found);
        done += piece.size();
    }
    std::string list;
    for (const auto& part : parts) {
        list += list.empty() ? "[" : ",[";
        list += std::to_string(part.offset) + "," + std::to_string(part.bytes) + "," + (part.fill ? "1" : "0") + "," +
                std::to_string(part.value) + "]";
    }
    return "\"content\":[" + list + "]";
}

std::string Snapshot::take(std::span<const std::uint64_t> values, abi::Context context,
                           std::span<const Allocation> arrays) {
    const std::scoped_lock guard(lock_);
    std::deque<Allocation> waiting;
    std::set<std::uint64_t> seen;
    const auto add = [&](const std::optional<Allocation>& found) {
        if (found && seen.insert(found->address).second) waiting.push_back(*found);
    };
    for (const auto value : values) add(map_.around(value));
    for (const auto& variable : map_.variables()) add(variable);
    for (const auto& array : arrays) add(array);
    std::string list;
    for (; !waiting.empty(); waiting.pop_front()) {
        const auto& buffer = waiting.front();
        std::vector<Allocation> found;
        const std::string stored = content(buffer, context, found);
        JsonLine line("buffer");
        line.add("space", std::string_view(name_of(buffer.space))).add("address", buffer.address);
        line.add("bytes", buffer.bytes);
        if (!buffer.name.empty()) line.add("name", std::string_view(buffer.name));
        const std::string object = line.object();
        list += (list.empty() ? "" : ",") + object.substr(0, object.size() - 1) + "," + stored + "}";
        for (const auto& pointed_to : found) add(pointed_to);
    }
    return "[" + list + "]";
}

}  // namespace gputomo::capture
