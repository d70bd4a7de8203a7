// Fuzzes the PTX parser. Any bytes must give a module or an InputError, also where unknown instructions are kept. What
// parses without them must print as text with the same meaning.
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "units/error.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gputomo;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    try {
        static_cast<void>(ptx::to_text(ptx::parse(bytes, "ptx", ptx::Unknown::is_kept)));
    } catch (const InputError&) {}  // it is no module at all
    ptx::Module module;
    try {
        module = ptx::parse(bytes);
    } catch (const InputError&) {
        return 0;
    }
    const std::string text = ptx::to_text(module);
    try {
        if (ptx::equivalent(module, ptx::parse(text))) return 0;
        std::fprintf(stderr, "reads back as another module:\n%s\n", text.c_str());
    } catch (const InputError& error) {
        std::fprintf(stderr, "does not read back: %s\n%s\n", error.what(), text.c_str());
    }
    std::abort();
}
