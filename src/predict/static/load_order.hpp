// Orders the loads of PTX as the compiler does: as soon as their addresses are known.
#pragma once

#include "predict/static/code.hpp"

namespace gputomo::predict {

/// Moves loads from global memory up within their basic blocks, past arithmetic that they do not depend on. They stop
/// at stores, atomics, barriers and other loads. PTX keeps loads in source order, but its machine code does not.
void hoist_loads(Code& code);

}  // namespace gputomo::predict
