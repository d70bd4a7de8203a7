// A kernel from builder to launch: compiled by the device, its machine code checked.
#pragma once

#include "device/device.hpp"
#include "measure/kernel/code_check.hpp"
#include "ptx/builder.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gputomo::measure {

/// What kernels for this device are written for.
[[nodiscard]] ptx::Target target_of(const device::Device& device);

class CompiledKernel {
public:
    /// Throws CodeMismatch where the device's machine code isn't what is expected.
    CompiledKernel(device::Device& device, const ptx::KernelBuilder& builder,
                   const std::vector<CodeExpectation>& expected = {});
    /// One of the kernels of a module that several share.
    CompiledKernel(std::shared_ptr<device::Module> module, std::string name,
                   const std::vector<CodeExpectation>& expected);

    /// Runs and waits; errors as device::Kernel::launch.
    device::LaunchResult launch(device::Dim3 grid, device::Dim3 block, const device::Arguments& arguments,
                                Bytes dynamic_shared = Bytes{0});
    /// Launches with the largest L1 from now on (device::Launch::prefer_l1).
    void prefer_l1() { prefer_l1_ = true; }
    [[nodiscard]] const std::string& name() const { return name_; }
    /// One for each expectation.
    [[nodiscard]] const std::vector<results::CodeCheck>& code_checks() const { return code_checks_; }
    [[nodiscard]] const device::Module& module() const { return *module_; }
    [[nodiscard]] device::KernelProperties properties() const { return kernel_->properties(); }

private:
    std::string name_;
    std::shared_ptr<device::Module> module_;
    device::Kernel* kernel_ = nullptr;
    std::vector<results::CodeCheck> code_checks_;
    bool prefer_l1_ = false;
};

/// Adds the kernel's code checks to what an experiment found.
void add_code_checks(const CompiledKernel& kernel, results::Outcome& outcome);
/// Adds a check that failed, for an experiment that goes on without that kernel, and a warning.
void add_mismatch(const CodeMismatch& mismatch, results::Outcome& outcome);
/// What `measure` finds, or only the check of its kernel where that failed.
[[nodiscard]] results::Outcome or_left_out(const std::function<results::Outcome()>& measure);

}  // namespace gputomo::measure
