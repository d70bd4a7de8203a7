// All of fmt's functions as one object file: distributions ship fmt as a shared library only, and its header-only form
// costs seconds for each file that includes it. Built with -fkeep-inline-functions, the inline functions are emitted
// here once.
#define FMT_HEADER_ONLY 1
#include <fmt/format.h>
