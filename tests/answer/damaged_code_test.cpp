// Cubins with a changed bit in the control fields of an instruction are simulated and predicted, or refused by name.
#include "answer/predict.hpp"
#include "answer/simulate.hpp"
#include "machine/json.hpp"
#include "sass/code.hpp"
#include "sass/cubin.hpp"
#include "sass/form.hpp"
#include "sass/kernel_info.hpp"
#include "sim/completion.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gputomo::answer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::chrono::milliseconds kTimeLimit{100};

/// A kernel of a cubin whose instructions can be changed, with a buffer for each pointer.
class Damaged {
public:
    Damaged(const std::string& file, const std::string& kernel)
        : launch_{.code = read_file(std::string(GPUTOMO_SOURCE_DIR "/tests/") + file, "a cubin"),
                  .kernel = kernel,
                  .grid = {2},
                  .block = {64}} {
        const sass::Cubin cubin(std::as_bytes(std::span(launch_.code)));
        for (const auto& parameter : sass::kernel_info(cubin, kernel).parameters) {
            launch::Argument argument{.offset = parameter.offset, .bytes = std::vector<std::byte>(parameter.bytes)};
            if (parameter.bytes == sizeof(device::Address)) {
                argument.buffer = launch_.buffers.size();
                launch_.buffers.push_back({.name = "buffer", .bytes = 1 << 16});
            } else {
                argument.bytes[0] = std::byte{64};
            }
            launch_.arguments.push_back(std::move(argument));
        }
        const auto text = cubin.text(kernel).bytes;
        first_ = reinterpret_cast<const char*>(text.data()) - launch_.code.data();
        instructions = text.size() / sass::kInstructionBytes;
    }

    [[nodiscard]] sass::Word word(std::size_t instruction) const {
        return sass::word_at(std::as_bytes(std::span(launch_.code)), offset(instruction));
    }
    void set(std::size_t instruction, const sass::Word& word) {
        for (std::size_t i = 0; i < sass::kInstructionBytes; ++i)
            launch_.code[offset(instruction) + i] = static_cast<char>((i < 8 ? word.low : word.high) >> (8 * (i % 8)));
    }

    void simulate() const { (void)answer::simulate(launch_, {h200(), "h200"}, {.time_limit = kTimeLimit}); }
    void predict() const { (void)answer::predict(launch_, {h200(), "h200"}, {.time_limit = kTimeLimit}); }

    std::size_t instructions = 0;

private:
    [[nodiscard]] std::size_t offset(std::size_t instruction) const {
        return static_cast<std::size_t>(first_) + instruction * sass::kInstructionBytes;
    }

    static const machine::Machine& h200() {
        static const auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
        return machine;
    }

    launch::Launch launch_;
    std::ptrdiff_t first_ = 0;
};

std::string refusal_by(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(DamagedCode, WithADependenceBarrierThatNoWarpHasIsRefusedByNameAndAddress) {
    for (const auto field : {sass::kWriteBarrier, sass::kReadBarrier}) {
        Damaged kernel("data/cubin/fine_chase_ca.sm_90.cubin", "fine_chase_ca");
        EXPECT_THAT(refusal_by([&] { kernel.simulate(); }), IsEmpty());
        EXPECT_THAT(refusal_by([&] { kernel.predict(); }), IsEmpty());
        auto changed = kernel.word(1);
        changed.set(field, 6);
        kernel.set(1, changed);
        const auto refused = AllOf(HasSubstr("at address 0x10"), HasSubstr("dependence barrier 6"));
        EXPECT_THAT(refusal_by([&] { kernel.simulate(); }), refused);
        EXPECT_THAT(refusal_by([&] { kernel.predict(); }), refused);
    }
}

/// Any exception but those of the project, and any signal, fails the test.
TEST(DamagedCode, WithAChangedControlBitIsSimulatedAndPredictedOrRefused) {
    constexpr std::uint8_t kFirst = sass::kStall.first, kLast = 124;  // the last bit of the reuse mask
    for (const auto& [file, name] : {std::pair("machine_code/fixtures/vector_add.cubin", "vector_add"),
                                     {"machine_code/fixtures/reduce.cubin", "reduce"}}) {
        Damaged kernel(file, name);
        for (std::size_t i = 0; i < kernel.instructions; ++i)
            for (std::uint8_t bit = kFirst; bit <= kLast; ++bit) {
                // Every eighth bit, others in the next instruction: a GPU is made for each.
                if ((5 * i + bit) % 8 != 0) continue;
                const auto whole = kernel.word(i);
                auto changed = whole;
                changed.set({bit, 1}, 1 - whole.get({bit, 1}));
                kernel.set(i, changed);
                static_cast<void>(refusal_by([&] { kernel.simulate(); }));
                static_cast<void>(refusal_by([&] { kernel.predict(); }));
                kernel.set(i, whole);
            }
    }
}

}  // namespace
}  // namespace gputomo::answer
