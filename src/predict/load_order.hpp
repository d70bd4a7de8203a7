// The order in which a compiler issues loads: as soon as their addresses are known, ahead of what does not need to come
// first.
#pragma once

#include "predict/code.hpp"

namespace gputomo::predict {

/// Moves loads from global memory up within their basic blocks, past instructions that neither make their addresses nor
/// touch their results, up to a store, an atomic, a barrier or the load before. PTX has loads where the source had
/// them; the machine code that is made of it does not.
void hoist_loads(Code& code);

}  // namespace gputomo::predict
