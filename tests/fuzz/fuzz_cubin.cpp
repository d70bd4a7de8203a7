// Fuzzes the decoder of cubins. Any bytes must decode or give an InputError, and what is decoded must lie within the
// kernel.
#include "sass/line_table.hpp"
#include "sass/machine_code.hpp"
#include "units/error.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace {

using namespace gputomo::sass;

void check(const KernelCode& code, const std::vector<CodeRange>& ranges) {
    for (const CodeRange range : ranges) {
        if (range.first <= range.last && range.last <= code.instructions().size()) continue;
        std::fprintf(stderr, "%s: instructions %zu to %zu of %zu\n", code.name().c_str(), range.first, range.last,
                     code.instructions().size());
        std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const Cubin cubin(std::as_bytes(std::span(data, size)));
        for (const auto& kernel : cubin.kernels()) {
            const LineTable lines(cubin, kernel);
            for (std::uint64_t address = 0; address < cubin.text(kernel).bytes.size(); address += 16)
                if (const auto* const place = lines.at(address)) static_cast<void>(short_text(*place));
            const auto code = kernel_code(cubin, kernel);
            check(code, code.loops());
            check(code, code.between_clock_reads());
            static_cast<void>(code.counts(code.all()));
            static_cast<void>(code.listing(code.all()));
        }
    } catch (const gputomo::InputError&) {}
    return 0;
}
