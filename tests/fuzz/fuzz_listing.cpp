// Fuzzes the parser of listings and the prediction of each function in them. Any bytes must give a result or an
// InputError.
#include "predict/static/listing.hpp"
#include "predict/static/path.hpp"
#include "predict/static/sass_code.hpp"
#include "units/error.hpp"

#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gputomo;
    try {
        const auto functions = predict::parse_listing({reinterpret_cast<const char*>(data), size});
        for (const auto& function : functions) {
            try {
                const auto code = predict::code_from_listing(functions, function.name, "listing");
                (void)predict::executions(code, predict::path_of(code, {}));
            } catch (const InputError&) {}
        }
    } catch (const InputError&) {}
    return 0;
}
