// Fuzzes the readers of suites and of kept answers. The text up to the first zero is a suite, the rest answers to its
// entries. Any bytes must be read or give an InputError. Answers that were read must be the same after they are written
// and read again.
#include "compare/suites/accuracy_json.hpp"
#include "compare/suites/suite.hpp"
#include "units/error.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gputomo;
    using namespace gputomo::compare;
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const auto zero = all.find('\0');
    const AccuracyOrigin origin{.version = "1", .commit = "c", .device = "sim:h200", .gpu = "h200"};
    std::vector<Scored> scored;
    try {
        for (auto& entry : suite_of(all.substr(0, zero), "suite", "h200", false)) scored.push_back({std::move(entry)});
        if (zero != std::string_view::npos) restore_answers(scored, all.substr(zero + 1), "answers", origin);
    } catch (const InputError&) {
        return 0;
    }
    const std::string written =
        accuracy_json(scored, origin).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    try {
        restore_answers(scored, written, "written", origin);
        const auto again = accuracy_json(scored, origin).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
        if (again == written) return 0;
        std::fprintf(stderr, "reads back as other answers:\n%s\n%s\n", written.c_str(), again.c_str());
    } catch (const InputError& error) {
        std::fprintf(stderr, "does not read back: %s\n%s\n", error.what(), written.c_str());
    }
    std::abort();
}
