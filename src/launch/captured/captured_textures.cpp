#include "launch/captured/captured_textures.hpp"

#include <bit>

namespace gputomo::launch {
namespace {

using Memory = sim::TextureObject::Memory;
using Outside = sim::TextureObject::Outside;

// Captures and simulation number them alike.
static_assert(static_cast<Memory>(capture::TextureMemory::linear) == Memory::linear);
static_assert(static_cast<Memory>(capture::TextureMemory::rows) == Memory::rows);
static_assert(static_cast<Memory>(capture::TextureMemory::array) == Memory::array);
static_assert(static_cast<Outside>(capture::TextureOutside::wrap) == Outside::wrap);
static_assert(static_cast<Outside>(capture::TextureOutside::border) == Outside::border);

}  // namespace

sim::TextureObject texture_object_of(const capture::Texture& texture) {
    using Object = sim::TextureObject;
    Object object;
    object.memory = static_cast<Memory>(texture.memory);
    object.address = texture.address;
    object.element = static_cast<Object::Element>(texture.format);
    object.channels = texture.channels;
    object.width = texture.width;
    object.height = texture.height;
    object.depth = texture.depth;
    object.pitch = texture.pitch;
    object.layered = texture.layered;
    for (std::size_t i = 0; i < texture.outside.size(); ++i)
        object.outside[i] = static_cast<Outside>(texture.outside[i]);
    for (std::size_t i = 0; i < texture.border.size(); ++i) object.border[i] = std::bit_cast<float>(texture.border[i]);
    object.linear_filter = texture.linear_filter;
    object.normalized = texture.normalized;
    object.as_integer = texture.as_integer;
    return object;
}

}  // namespace gputomo::launch
