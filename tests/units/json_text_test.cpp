// Tests of the messages about text that is no JSON. They quote what nlohmann's parser throws.
#include "units/json_text.hpp"

#include "units/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gputomo {
namespace {

std::string refusal(std::string_view text, std::size_t byte, std::string_view what) {
    try {
        refuse_json(text, byte, what, "x.json", "a suite");
    } catch (const InputError& e) {
        return e.what();
    }
}

TEST(JsonText, NamesThePlaceTheReasonAndWhatWasExpected) {
    EXPECT_EQ(
        refusal("{\n \"a\": x}", 9,
                "[json.exception.parse_error.101] parse error at line 2, column 7: syntax error while parsing value "
                "- invalid literal; last read: 'x'"),
        "x.json: line 2, column 7: not JSON: invalid literal; last read: 'x'; expected a suite");
    EXPECT_EQ(refusal("{", 2,
                      "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while parsing "
                      "object key - unexpected end of input; expected string literal"),
              "x.json: line 1, column 2: not JSON: unexpected end of input; expected string literal; expected a suite");
}

TEST(JsonText, ANumberThatIsTooLargeHasNoPlace) {
    EXPECT_EQ(refusal("[1e999]", 0, "[json.exception.out_of_range.406] number overflow parsing '1e999'"),
              "x.json: not JSON: number overflow parsing '1e999'; expected a suite");
}

TEST(JsonText, AnEmptyFileIsSaidToBeEmpty) {
    EXPECT_EQ(refusal("", 1, "[json.exception.parse_error.101] parse error"),
              "x.json: not JSON: it is empty; expected a suite");
}

}  // namespace
}  // namespace gputomo
