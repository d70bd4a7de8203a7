// The texture objects of a captured launch, as the simulated GPU reads them.
#pragma once

#include "capture/capture.hpp"
#include "sim/exec/texture.hpp"

namespace gputomo::launch {

[[nodiscard]] sim::TextureObject texture_object_of(const capture::Texture& texture);

}  // namespace gputomo::launch
