// One warp that does nothing: what a launch costs before and after its blocks.
#include "../suite.hpp"

extern "C" __global__ void nothing() {}

static suite::Entry entry("nothing", [] { nothing<<<1, 32>>>(); });
