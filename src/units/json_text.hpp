// Parses JSON text and says for people what is wrong with it. It takes the type of the JSON library as a parameter, so
// that this room needs no such library.
#pragma once

#include <cstddef>
#include <string_view>

namespace gputomo {

/// Throws InputError: "ORIGIN: line 3, column 7: not JSON: unexpected end of input; expected a suite". `byte` is where
/// the parser stopped, counted from 1, or 0 where it does not say. `what` is its own message.
[[noreturn]] void refuse_json(std::string_view text, std::size_t byte, std::string_view what, std::string_view origin,
                              std::string_view expected);

/// Parses `text`, the content of `origin`, with nlohmann's `Json`. Throws InputError that names `expected` ("a machine
/// description") where it is not JSON, or a number in it is too large.
template <class Json, class... Callback>
[[nodiscard]] Json parse_json(std::string_view text, std::string_view origin, std::string_view expected,
                              Callback... callback) {
    try {
        return Json::parse(text, callback...);
    } catch (const typename Json::parse_error& e) {
        refuse_json(text, e.byte, e.what(), origin, expected);
    } catch (const typename Json::exception& e) {
        refuse_json(text, 0, e.what(), origin, expected);
    }
}

}  // namespace gputomo
