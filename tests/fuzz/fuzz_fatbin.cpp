// Fuzzes the reader of fatbins. Any bytes must give members whose payloads decompress, or an InputError.
#include "capture/decompress.hpp"
#include "capture/fatbin.hpp"
#include "units/error.hpp"

#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gputomo;
    const auto bytes = std::as_bytes(std::span(data, size));
    (void)capture::image_kind(bytes);
    try {
        for (const auto& member : capture::candidates(capture::members(bytes), 90)) {
            try {
                (void)capture::payload(member);
            } catch (const InputError&) {}
        }
    } catch (const InputError&) {}
    return 0;
}
