#include "cli/inputs/caches.hpp"

#include "launch/captured/captured_launch.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace gputomo::cli {

ChosenCaches::ChosenCaches(const std::string& text, const capture::Capture* captured, For use) {
    using State = answer::Caches::State;
    constexpr std::string_view kAfter = "after:";
    const bool simulates = use == For::simulation;
    if (text == "cold" || (text == "dirty" && !simulates) || text == "warm") {
        caches_.state = text == "warm" ? State::warm : text == "dirty" ? State::dirty : State::cold;
        return;
    }
    const auto refuse = [&](const std::string& expected) {
        throw InputError(fmt::format("--caches {}: expected {}", text, expected));
    };
    if (!text.starts_with(kAfter))
        refuse(fmt::format("cold, {}warm or, of a capture, after:N{}", simulates ? "" : "dirty, ",
                           text == "dirty" ? "; dirty caches are predicted only" : ""));
    if (captured == nullptr)
        refuse(fmt::format("{} or warm, since a file has no other launch; a capture has",
                           simulates ? "cold" : "cold, dirty"));
    const std::string_view digits = std::string_view(text).substr(kAfter.size());
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), caches_.launch);
    if (error != std::errc{} || end != digits.data() + digits.size() || caches_.launch >= captured->launches.size())
        refuse(fmt::format("the number of one of the {} launches, counted from 0, after 'after:'",
                           captured->launches.size()));
    caches_.state = State::after;
    earlier_ = launch::captured_launch(*captured, captured->launches[caches_.launch]);
}

}  // namespace gputomo::cli
