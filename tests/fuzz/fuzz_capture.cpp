// Fuzzes the readers of captures and of journals. Any bytes must give one of these or an InputError. An index that is
// read must be equal after it is written and read again.
#include "capture/capture.hpp"
#include "capture/journal_reader.hpp"
#include "units/error.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gputomo;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        (void)capture::read_journal(text, "fuzzed");
    } catch (const InputError&) {}
    std::string written;
    try {
        written = capture::to_json(capture::from_json(text, "fuzzed"));
    } catch (const InputError&) {
        return 0;
    }
    try {
        if (capture::to_json(capture::from_json(written, "written")) == written) return 0;
        std::fprintf(stderr, "reads back as another:\n%s\n", written.c_str());
    } catch (const InputError& error) {
        std::fprintf(stderr, "does not read back: %s\n%s\n", error.what(), written.c_str());
    }
    std::abort();
}
