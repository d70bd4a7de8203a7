// The parts of the smoke test: PTX kernels, checks that leave the GPU intact, and checks that end their process.
#pragma once

#include "device/device.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::gpu_smoke {

/// PTX of the kernels for the checks, for the device's PTX version and target.
[[nodiscard]] std::string kernels(const device::Device& device);
/// PTX with an instruction that does not exist: kBrokenText.
[[nodiscard]] std::string broken_kernel(const device::Device& device);
inline constexpr std::string_view kBrokenText = "add.f32 %f1, %r1, %r1;";

/// Prints PASS and FAIL lines and counts them.
class Report {
public:
    void note(const std::string& text) const;
    bool expect(const std::string& what, bool passed, const std::string& found = {});
    /// Runs `body`; an exception counts as a FAIL of `what`.
    void run(const std::string& what, const std::function<void()>& body);
    [[nodiscard]] int failures() const { return failures_; }
    [[nodiscard]] int passes() const { return passes_; }

private:
    int failures_ = 0;
    int passes_ = 0;
};

/// `dump`: the folder that receives the cubin, or empty.
void check_device(device::Device& device, const std::string& dump, Report& report);

/// Checks that the context does not survive, each for a process of its own. They return the exit code.
int endless_kernel();
int illegal_address();
/// Starts this program again with `argument`, waits for at most `seconds`, and reports how it ended.
void check_child(const std::string& program, const std::string& argument, int seconds, Report& report);

}  // namespace gputomo::gpu_smoke
