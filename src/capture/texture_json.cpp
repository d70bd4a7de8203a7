#include "capture/texture_json.hpp"

#include "capture/json_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gputomo::capture {
namespace {

/// The value whose name the node has.
template <class Value, std::size_t N>
Value one_of(const files::JsonNode& node, const std::array<std::string_view, N>& names) {
    const auto found = std::ranges::find(names, node.text());
    if (found == names.end()) node.fail(fmt::format("one of {}", fmt::join(names, ", ")));
    return static_cast<Value>(found - names.begin());
}

}  // namespace

Texture texture_of(const files::JsonNode& node, const std::function<std::uint64_t(const files::JsonNode&)>& number_of) {
    Texture texture;
    texture.handle = number_of(node.at("handle"));
    texture.memory = one_of<TextureMemory>(node.at("memory"), kTextureMemories);
    texture.address = number_of(node.at("address"));
    texture.format = small<std::uint32_t>(node.at("format"));
    texture.channels = small<std::uint32_t>(node.at("channels"));
    texture.width = node.at("width").natural();
    texture.height = node.at("height").natural();
    texture.depth = node.at("depth").natural();
    texture.pitch = node.at("pitch").natural();
    texture.layered = node.at("layered").flag();
    const auto outside = node.at("outside").elements();
    const auto border = node.at("border").elements();
    if (outside.size() != texture.outside.size()) node.at("outside").fail("one for each of three dimensions");
    if (border.size() != texture.border.size()) node.at("border").fail("the bits of four floats");
    for (std::size_t i = 0; i < outside.size(); ++i)
        texture.outside[i] = one_of<TextureOutside>(outside[i], kTextureOutsides);
    for (std::size_t i = 0; i < border.size(); ++i) texture.border[i] = small<std::uint32_t>(border[i]);
    texture.linear_filter = node.at("linear_filter").flag();
    texture.normalized = node.at("normalized").flag();
    texture.as_integer = node.at("as_integer").flag();
    return texture;
}

}  // namespace gputomo::capture
