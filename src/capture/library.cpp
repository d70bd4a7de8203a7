#include "capture/library.hpp"

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
    return {gputomo_recording_library,
            static_cast<std::size_t>(gputomo_recording_library_end - gputomo_recording_library)};
}

}  // namespace gputomo::capture
