// Fuzzes the readers of recorded scans, surfaces and kernel timings, compressed or not. Any bytes must give one of
// these or an InputError. What is read must be equal after it is written and read again.
#include "scan/files.hpp"
#include "scan/gzip.hpp"
#include "scan/kernels_file.hpp"
#include "scan/surface_file.hpp"
#include "units/error.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

template <class Read>
void read_twice(std::string_view text, Read read) {
    std::string written;
    try {
        written = gputomo::scan::to_json(read(text, "fuzzed"));
    } catch (const gputomo::InputError&) {
        return;
    }
    try {
        if (gputomo::scan::to_json(read(written, "written")) == written) return;
        std::fprintf(stderr, "reads back as another:\n%s\n", written.c_str());
    } catch (const gputomo::InputError& error) {
        std::fprintf(stderr, "does not read back: %s\n%s\n", error.what(), written.c_str());
    }
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gputomo;
    std::string text(reinterpret_cast<const char*>(data), size);
    if (scan::is_gzip(text)) {
        try {
            text = scan::gunzip(text, "fuzzed");
        } catch (const InputError&) {
            return 0;
        }
    }
    read_twice(text, [](std::string_view t, std::string_view origin) { return scan::scan_from_json(t, origin); });
    read_twice(text, [](std::string_view t, std::string_view origin) { return scan::surface_from_json(t, origin); });
    read_twice(text, [](std::string_view t, std::string_view origin) { return scan::kernels_from_json(t, origin); });
    return 0;
}
