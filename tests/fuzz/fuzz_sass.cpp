// Fuzzes the decoder of machine instructions. Any 16 bytes must decode or give an InputError. What is decoded must be
// printed, and encoded back to the same bytes.
#include "sass/code.hpp"
#include "units/error.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gputomo::sass;
    const auto code = std::as_bytes(std::span(data, size));
    for (std::size_t offset = 0; offset + kInstructionBytes <= size; offset += kInstructionBytes) {
        const Word word = word_at(code, offset);
        try {
            const auto instruction = decode(word, 90, offset);
            const auto text = text_of(instruction, offset);
            if (encode(instruction) == word) continue;
            std::fprintf(stderr, "encoded differently: %s\n", text.c_str());
            std::abort();
        } catch (const gputomo::InputError&) {}
    }
    return 0;
}
