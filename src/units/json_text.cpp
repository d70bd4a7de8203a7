#include "units/json_text.hpp"

#include "units/error.hpp"

#include <algorithm>
#include <string>

namespace gputomo {
namespace {

/// The reason in a message of nlohmann's parser, such as
/// "[json.exception.parse_error.101] parse error at line 1, column 1: syntax error while parsing value - invalid
/// literal; last read: 'G'".
std::string_view reason_in(std::string_view what) {
    for (const std::string_view mark : {" - ", ": ", "] "})
        if (const auto at = what.find(mark); at != std::string_view::npos) return what.substr(at + mark.size());
    return what;
}

/// Where a byte, counted from 1, is in the text.
std::string place_of(std::string_view text, std::size_t byte) {
    const auto before = text.substr(0, std::min(byte - 1, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const auto start = before.rfind('\n');
    const auto column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
    return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": ";
}

}  // namespace

void refuse_json(std::string_view text, std::size_t byte, std::string_view what, std::string_view origin,
                 std::string_view expected) {
    const std::string start = std::string(origin) + ": ", end = "; expected " + std::string(expected);
    if (text.empty()) throw InputError(start + "not JSON: it is empty" + end);
    throw InputError(start + (byte == 0 ? std::string() : place_of(text, byte)) +
                     "not JSON: " + std::string(reason_in(what)) + end);
}

}  // namespace gputomo
