#include "capture/interposer/textures.hpp"

#include "capture/interposer/driver.hpp"
#include "capture/interposer/text.hpp"
#include "capture/texture_names.hpp"

#include <algorithm>
#include <cstring>

namespace gputomo::capture {
namespace {

/// CUarray_format of elements that are recorded; 0 bytes for others.
std::uint64_t element_bytes(int format) {
    switch (format) {
        case 0x01:
        case 0x08: return 1;
        case 0x02:
        case 0x09:
        case 0x10: return 2;
        case 0x03:
        case 0x0a:
        case 0x20: return 4;
        default: return 0;
    }
}

/// Texels of an array, or of memory.
struct Extent {
    TextureMemory memory = TextureMemory::linear;
    std::uint64_t address = 0;
    int format = 0;
    unsigned channels = 0;
    std::uint64_t width = 0, height = 0, depth = 0, pitch = 0;
    bool layered = false;

    [[nodiscard]] std::uint64_t texel_bytes() const { return channels * element_bytes(format); }
};

bool describe_array(abi::Array array, abi::ArrayDescription& found) {
    return driver().array_descriptor != nullptr && driver().array_descriptor(&found, array) == abi::kSuccess;
}

Extent extent_of(const abi::ArrayDescription& array) {
    Extent extent{.memory = TextureMemory::array, .format = array.format, .channels = array.channels};
    extent.width = array.width;
    extent.height = array.height;
    extent.depth = array.depth;
    extent.layered = (array.flags & abi::kArrayLayered) != 0;
    extent.pitch = extent.width * extent.texel_bytes();
    return extent;
}

std::uint64_t bytes_of(const abi::ArrayDescription& array) {
    const auto at_least_one = [](std::uint64_t size) { return std::max<std::uint64_t>(size, 1); };
    return extent_of(array).pitch * at_least_one(array.height) * at_least_one(array.depth);
}

/// What a capture needs to read the texture object again; empty for kinds that are not recorded.
std::string json_of(abi::TextureObject handle, const Extent& extent, const abi::TextureDescription& texture) {
    JsonLine line("texture");
    line.add("handle", std::uint64_t{handle}).add("memory", name_of(extent.memory));
    line.add("address", extent.address).add("format", extent.format);
    line.add("channels", std::uint64_t{extent.channels}).add("width", extent.width).add("height", extent.height);
    line.add("depth", extent.depth).add("pitch", extent.pitch);
    line.raw("layered", extent.layered ? "true" : "false");
    std::string outside, border;
    for (const int mode : texture.address_mode)
        outside += (outside.empty() ? "[" : ",") + JsonLine::quoted(kTextureOutsides[static_cast<unsigned>(mode) & 3]);
    for (const float channel : texture.border_color) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &channel, sizeof bits);
        border += (border.empty() ? "[" : ",") + std::to_string(bits);
    }
    line.raw("outside", outside + "]")
        .raw("linear_filter", texture.filter_mode == abi::kFilterLinear ? "true" : "false");
    line.raw("normalized", (texture.flags & abi::kNormalizedCoordinates) != 0 ? "true" : "false");
    line.raw("as_integer", (texture.flags & abi::kReadAsInteger) != 0 ? "true" : "false");
    return line.raw("border", border + "]").object();
}

}  // namespace

Allocation Textures::allocation_of(abi::Array array, std::uint64_t bytes) {
    constexpr std::uint64_t kAlignment = 512;
    auto [at, is_new] = arrays_.try_emplace(array);
    if (is_new || at->second.bytes != bytes) {
        at->second = {.address = next_, .bytes = bytes, .space = Space::array, .name = {}, .array = array};
        next_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
    return at->second;
}

void Textures::created(abi::TextureObject handle, const abi::ResourceDescription& resource,
                       const abi::TextureDescription& texture, bool has_view) {
    const std::scoped_lock guard(lock_);
    Texture made;
    Extent extent;
    if (resource.type == abi::kResourceArray) {
        abi::ArrayDescription array{};
        const bool plain = describe_array(resource.resource.array, array) && (array.flags & abi::kArrayCubemap) == 0;
        if (plain) extent = extent_of(array), made.array = allocation_of(resource.resource.array, bytes_of(array));
        extent.address = made.array.address;
    } else if (resource.type == abi::kResourceLinear) {
        const auto& linear = resource.resource.linear;
        extent = {.address = linear.pointer, .format = linear.format, .channels = linear.channels};
        if (extent.texel_bytes() != 0) extent.width = linear.bytes / extent.texel_bytes();
        extent.pitch = linear.bytes;
        made.address = extent.address;
    } else if (resource.type == abi::kResourcePitch2d) {
        const auto& rows = resource.resource.rows;
        extent = {
            .memory = TextureMemory::rows, .address = rows.pointer, .format = rows.format, .channels = rows.channels};
        extent.width = rows.width;
        extent.height = rows.height;
        extent.pitch = rows.pitch;
        made.address = extent.address;
    }
    constexpr unsigned kSrgb = 0x10;
    if (has_view || extent.texel_bytes() == 0 || (texture.flags & kSrgb) != 0) return;
    made.json = json_of(handle, extent, texture);
    by_handle_[handle] = std::move(made);
}

void Textures::destroyed(abi::TextureObject handle) {
    const std::scoped_lock guard(lock_);
    by_handle_.erase(handle);
}

void Textures::forget() {
    const std::scoped_lock guard(lock_);
    by_handle_.clear();
    arrays_.clear();
}

std::string Textures::list() const {
    const std::scoped_lock guard(lock_);
    std::string list;
    for (const auto& [handle, texture] : by_handle_) list += (list.empty() ? "[" : ",") + texture.json;
    return list.empty() ? list : list + "]";
}

void Textures::collect_values(std::vector<std::uint64_t>& values) const {
    const std::scoped_lock guard(lock_);
    for (const auto& [handle, texture] : by_handle_)
        if (texture.address != 0) values.push_back(texture.address);
}

std::vector<Allocation> Textures::arrays() const {
    const std::scoped_lock guard(lock_);
    std::vector<Allocation> all;
    for (const auto& [handle, texture] : by_handle_)
        if (texture.array.bytes != 0 &&
            std::ranges::find(all, texture.array.address, &Allocation::address) == all.end())
            all.push_back(texture.array);
    return all;
}

bool copy_array(abi::Array array, void* to, abi::Stream stream) {
    abi::ArrayDescription found{};
    if (stream == nullptr || driver().copy_3d == nullptr || !describe_array(array, found)) return false;
    abi::Copy3d copy{};
    copy.from.type = abi::kMemoryArray;
    copy.from.array = array;
    copy.to.type = abi::kMemoryHost;
    copy.to.host = to;
    copy.bytes = copy.to.pitch = extent_of(found).pitch;
    copy.height = copy.to.height = std::max<std::size_t>(found.height, 1);
    copy.depth = std::max<std::size_t>(found.depth, 1);
    return driver().copy_3d(&copy, stream) == abi::kSuccess && driver().stream_synchronize(stream) == abi::kSuccess;
}

}  // namespace gputomo::capture
