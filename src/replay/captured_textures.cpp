#include "replay/captured_textures.hpp"

#include <bit>

namespace gputomo::replay {

sim::TextureObject texture_object_of(const capture::Texture& texture) {
    using Object = sim::TextureObject;
    Object object;
    object.memory = texture.memory == "linear" ? Object::Memory::linear
                    : texture.memory == "rows" ? Object::Memory::rows
                                               : Object::Memory::array;
    object.address = texture.address;
    object.element = static_cast<Object::Element>(texture.format);
    object.channels = texture.channels;
    object.width = texture.width;
    object.height = texture.height;
    object.depth = texture.depth;
    object.pitch = texture.pitch;
    object.layered = texture.layered;
    for (std::size_t i = 0; i < texture.outside.size(); ++i)
        object.outside[i] = texture.outside[i] == "wrap"     ? Object::Outside::wrap
                            : texture.outside[i] == "mirror" ? Object::Outside::mirror
                            : texture.outside[i] == "border" ? Object::Outside::border
                                                             : Object::Outside::clamp;
    for (std::size_t i = 0; i < texture.border.size(); ++i) object.border[i] = std::bit_cast<float>(texture.border[i]);
    object.linear_filter = texture.linear_filter;
    object.normalized = texture.normalized;
    object.as_integer = texture.as_integer;
    return object;
}

}  // namespace gputomo::replay
