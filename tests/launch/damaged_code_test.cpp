// Cubins with a changed bit in the control fields of an instruction are simulated and predicted, or refused by name.
#include "device/cubin.hpp"
#include "launch/profile/loaded_kernel.hpp"
#include "launch/profile/profile.hpp"
#include "machine/json.hpp"
#include "predict/launch/launch_prediction.hpp"
#include "sass/code.hpp"
#include "sass/form.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gputomo::launch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr device::Dim3 kGrid{2}, kBlock{64};
constexpr std::chrono::milliseconds kTimeLimit{100};

/// A kernel of a cubin whose instructions can be changed, with a buffer for each pointer.
class Damaged {
public:
    Damaged(const std::string& file, std::string kernel)
        : code(read_file(std::string(GPUTOMO_SOURCE_DIR "/tests/") + file, "a cubin")), kernel_(std::move(kernel)) {
        const device::Cubin cubin(std::as_bytes(std::span(code)));
        for (const auto& parameter : device::kernel_info(cubin, kernel_).parameters)
            if (parameter.bytes == sizeof(device::Address))
                arguments_.add(buffers_.emplace_back(*gpu_, Bytes(1 << 16)).address());
            else
                arguments_.add(std::uint32_t{64});
        const auto text = cubin.text(kernel_).bytes;
        first_ = reinterpret_cast<const char*>(text.data()) - code.data();
        instructions = text.size() / sass::kInstructionBytes;
    }

    [[nodiscard]] sass::Word word(std::size_t instruction) const {
        return sass::word_at(std::as_bytes(std::span(code)), offset(instruction));
    }
    void set(std::size_t instruction, const sass::Word& word) {
        for (std::size_t i = 0; i < sass::kInstructionBytes; ++i)
            code[offset(instruction) + i] = static_cast<char>((i < 8 ? word.low : word.high) >> (8 * (i % 8)));
    }

    void simulate() const {
        const auto module = gpu_->load(code);
        module->kernel(kernel_).launch(
            {.grid = kGrid, .block = kBlock, .arguments = arguments_, .time_limit = kTimeLimit});
    }
    void predict() const {
        const auto program = load_kernel(*gpu_, device::Cubin(std::as_bytes(std::span(code))), kernel_);
        const auto parameters = parameter_space(program, arguments_);
        std::vector<MemoryRange> known;
        for (const auto& buffer : buffers_)
            known.push_back({buffer.address(), static_cast<std::uint64_t>(buffer.size().count())});
        const auto profile =
            profile_launch({program, {.grid = kGrid, .block = kBlock, .parameters = parameters}, gpu_->memory(), known},
                           gpu_->machine(), {.time_limit = kTimeLimit});
        static_cast<void>(predict::predict_launch(profile, gpu_->machine(), "h200"));
    }

    std::string code;
    std::size_t instructions = 0;

private:
    [[nodiscard]] std::size_t offset(std::size_t instruction) const {
        return static_cast<std::size_t>(first_) + instruction * sass::kInstructionBytes;
    }

    std::unique_ptr<sim::SimulatedDevice> gpu_ =
        sim::make_device(sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine, {});
    std::string kernel_;
    std::vector<device::Buffer> buffers_;
    device::Arguments arguments_;
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
}  // namespace gputomo::launch
