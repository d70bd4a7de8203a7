// A texture object in the index of a capture and in journals.
#pragma once

#include "capture/capture.hpp"
#include "files/json_node.hpp"

#include <cstdint>
#include <functional>

namespace gputomo::capture {

/// Throws InputError naming the field. `number_of` reads the handle and the address, which the index has as text.
[[nodiscard]] Texture texture_of(const files::JsonNode& node,
                                 const std::function<std::uint64_t(const files::JsonNode&)>& number_of);

}  // namespace gputomo::capture
