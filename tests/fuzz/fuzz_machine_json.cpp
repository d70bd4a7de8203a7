// Fuzzes the reader of machine descriptions. Any bytes must give a Machine or an InputError. What is read must be equal
// after it is written and read again.
#include "machine/json.hpp"

#include "machine/diff.hpp"
#include "units/error.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gputomo;
    machine::Machine machine;
    try {
        machine = machine::from_json({reinterpret_cast<const char*>(data), size});
    } catch (const InputError&) {
        return 0;
    }
    const std::string text = machine::to_json(machine);
    try {
        const auto again = machine::from_json(text);
        const auto result = machine::diff(machine, again);
        if (machine::to_json(again) == text && result.differing.empty() && result.only_a.empty() &&
            result.only_b.empty())
            return 0;
        std::fprintf(stderr, "reads back as another machine:\n%s\n", text.c_str());
    } catch (const InputError& error) {
        std::fprintf(stderr, "does not read back: %s\n%s\n", error.what(), text.c_str());
    }
    std::abort();
}
