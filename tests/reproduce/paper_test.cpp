// Tests of reading a paper's file, and of the faults that are refused.
#include "fakes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::reproduce::of_papers {
namespace {

using ::testing::HasSubstr;
using testing::paper_text;
using ::testing::StartsWith;

std::string refusal(const std::string& text) {
    try {
        (void)paper_from_json(text, "p.json");
    } catch (const InputError& e) {
        EXPECT_THAT(e.what(), StartsWith("p.json: "));
        return e.what();
    }
    return "nothing";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    return text.replace(text.find(what), what.size(), by);
}

TEST(Paper, IsReadWithItsRecipes) {
    const auto paper = paper_from_json(
        paper_text(
            R"("value":38,"unit":"cycle","note":"n","reproduce":"shared.latency / 2","tolerance":0.1,"remark":"why",)"
            R"("expected":19)"),
        "p.json");
    EXPECT_EQ(paper.id, "p");
    ASSERT_EQ(paper.entries.size(), 1U);
    const auto& entry = paper.entries.front();
    EXPECT_EQ(entry.id, "p.x");
    EXPECT_EQ(entry.value, 38);
    EXPECT_EQ(entry.unit, "cycle");
    EXPECT_EQ(entry.on, std::vector<std::string>{"G"});
    ASSERT_TRUE(entry.recipe);
    EXPECT_EQ(entry.recipe->expected, 19);
    EXPECT_EQ(entry.recipe->tolerance, 0.1);
}

TEST(Paper, IsRefusedWithTheFieldThatIsWrong) {
    const std::string good = paper_text(R"("value":38,"reproduce":"shared.latency")");
    EXPECT_EQ(refusal(good), "nothing");
    EXPECT_THAT(refusal("{"), HasSubstr("not JSON"));
    EXPECT_THAT(refusal(replaced(good, "gputomo-paper-1", "other")),
                HasSubstr("schema: found \"other\"; expected \"gputomo-paper-1\""));
    EXPECT_THAT(refusal(replaced(good, "\"title\":\"T\",", "")), HasSubstr("title: missing"));
    EXPECT_THAT(refusal(replaced(good, "\"p.x\"", "\"q.x\"")),
                HasSubstr("results[0].id: found \"q.x\"; expected an id that starts with 'p.'"));
    EXPECT_THAT(refusal(replaced(good, "\"kind\":\"number\"", "\"kind\":\"guess\"")),
                HasSubstr("results[0].kind: found \"guess\"; expected one of number"));
    EXPECT_THAT(refusal(replaced(good, "\"gpu\":\"G\"", "\"gpu\":\"H\"")),
                HasSubstr("results[0].gpu: found \"H\"; expected a GPU that the paper's 'gpus' has"));
    EXPECT_THAT(
        refusal(replaced(good, "\"machine\":\"gtx280\"", "\"machine\":\"gtx280\",\"settings\":{\"shared.colour\":1}")),
        HasSubstr("gpus.G.settings.shared.colour: found 1; expected a leaf"));
    EXPECT_THAT(refusal(replaced(good, "\"machine\":\"gtx280\"",
                                 "\"machine\":\"gtx280\",\"settings\":{\"shared.latency\":\"x\"}")),
                HasSubstr("with a value of its type"));
}

TEST(Paper, HasListingsForPredictions) {
    const auto with = [](const std::string& listings) {
        return replaced(paper_text(R"-("value":2,"reproduce":"predict('two', 'instructions')")-"), "\"results\"",
                        listings + "\"results\"");
    };
    const std::string two = R"("listings":{"two":["FADD R1, R1, R2","EXIT"]},)";
    EXPECT_EQ(paper_from_json(with(two), "p.json").listings.at("two"), "FADD R1, R1, R2\nEXIT");
    EXPECT_THAT(refusal(with("")), HasSubstr("expected the name of a listing, not 'two'"));
    EXPECT_THAT(refusal(with(replaced(two, "EXIT", "fadd"))), HasSubstr("two:2: found '"));
    EXPECT_THAT(refusal(with(replaced(two, "EXIT", "HMMA R1, R2"))), HasSubstr("two:2: 'HMMA' can't be predicted"));
    EXPECT_THAT(refusal(with(R"("listings":{"two":"EXIT"},)")),
                HasSubstr("listings.two: found \"EXIT\"; expected a list"));
}

TEST(Paper, EachEntryHasARecipeOrAReason) {
    EXPECT_THAT(refusal(paper_text(R"("value":38)")),
                HasSubstr("p.x: expected one of 'reproduce' and 'not_reproducible'"));
    EXPECT_THAT(refusal(paper_text(R"("value":38,"reproduce":"1","not_reproducible":"no")")),
                HasSubstr("expected one of"));
    EXPECT_THAT(refusal(paper_text(R"("value":38,"not_reproducible":"")")), HasSubstr("expected a reason"));
    EXPECT_THAT(refusal(paper_text(R"("value":38,"reproduce":"shared.latency +")")),
                HasSubstr("p.x.reproduce: \"shared.latency +\": at character 17"));
    EXPECT_THAT(refusal(paper_text(R"("value":38,"reproduce":"1","tolerance":0.1)")),
                HasSubstr("expected a 'remark' that says why"));
    EXPECT_THAT(refusal(paper_text(R"("value":38,"reproduce":"1","tolerance":2,"remark":"r")")),
                HasSubstr("a part between 0 and 1"));
    EXPECT_THAT(refusal(paper_text(R"("value":38,"reproduce":"1","on":[])")), HasSubstr("at least one GPU"));
    const std::string one = R"("value":38,"reproduce":"1")";
    const auto twice = paper_text(one + R"(},{"id":"p.x","where":"w","gpu":"G","quantity":"q","kind":"number",)" + one);
    EXPECT_THAT(refusal(twice), HasSubstr("results[1].id: found \"p.x\"; expected an id that no other entry has"));
}

}  // namespace
}  // namespace gputomo::reproduce::of_papers
