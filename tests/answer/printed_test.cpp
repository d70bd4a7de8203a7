// What kernels print, in answers.
#include "answer/answer.hpp"
#include "answer/answer_text.hpp"
#include "answer/predict.hpp"
#include "answer/simulate.hpp"
#include "machine/json.hpp"
#include "sim/completion.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::answer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class PrintedTexts : public testing::Test {
protected:
    static launch::Launch arms(std::uint32_t threads) {
        return {.code = read_file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/system.cubin", "a cubin"),
                .kernel = "arms",
                .origin = {},
                .grid = {1},
                .block = {threads},
                .results = {}};
    }
    machine::Machine machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
};

TEST_F(PrintedTexts, AreThoseOfASimulation) {
    const Answer answer = simulate(arms(1), {machine, "h200"}, {});
    EXPECT_EQ(answer.printed, "even 0\n");
    EXPECT_THAT(answer_text(answer), HasSubstr("\nPrinted by the kernel:\neven 0\n"));
    EXPECT_THAT(answer.assumptions, Contains(HasSubstr("printf")));
}

TEST_F(PrintedTexts, AreNotThoseOfAPrediction) {
    const Answer answer = predict(arms(1), {machine, "h200"}, {});
    EXPECT_FALSE(answer.printed);
    EXPECT_THAT(answer_text(answer), Not(HasSubstr("Printed")));
    EXPECT_THAT(answer.assumptions, Contains(HasSubstr("printf"))) << "what it takes is not known";
}

}  // namespace
}  // namespace gputomo::answer
