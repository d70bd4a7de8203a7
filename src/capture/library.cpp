#include "capture/library.hpp"

#include <cstdint>

// One executable is enough on another machine, so the library travels within it. The build says where the file is.
asm(".pushsection .rodata\n"
    ".balign 16\n"
    "gputomo_recording_library:\n"
    ".incbin \"" GPUTOMO_RECORDING_LIBRARY
    "\"\n"
    "gputomo_recording_library_end:\n"
    ".byte 0\n"
    ".popsection\n"
    ".globl gputomo_recording_library\n"
    ".globl gputomo_recording_library_end\n");

extern "C" {
extern const char gputomo_recording_library[];
extern const char gputomo_recording_library_end[];
}

namespace gputomo::capture {

std::string_view recording_library() {
    // Two labels of one section (above), so that the distance is the size, which no array type states.
    const auto begin = reinterpret_cast<std::uintptr_t>(gputomo_recording_library);
    const auto end = reinterpret_cast<std::uintptr_t>(gputomo_recording_library_end);
    return {gputomo_recording_library, end - begin};
}

}  // namespace gputomo::capture
