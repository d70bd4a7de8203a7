// A kernel from builder to launch: the device compiles it, and its machine code is checked.
#pragma once

#include "device/device.hpp"
#include "measure/kernel/code_check.hpp"
#include "ptx/builder.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gputomo::measure {

/// The PTX target of kernels for this device.
[[nodiscard]] ptx::Target target_of(const device::Device& device);

/// A loaded kernel whose machine code passed its checks, or has none.
class CompiledKernel {
public:
    /// Throws CodeMismatch if the device's machine code is not what `expected` describes.
    CompiledKernel(device::Device& device, const ptx::KernelBuilder& builder,
                   const std::vector<CodeExpectation>& expected = {});
    /// One of the kernels of a module that several kernels share.
    CompiledKernel(std::shared_ptr<device::Module> module, std::string name,
                   const std::vector<CodeExpectation>& expected);

    /// Launches and waits. Throws as device::Kernel::launch does.
    device::LaunchResult launch(device::Dim3 grid, device::Dim3 block, const device::Arguments& arguments,
                                Bytes dynamic_shared = Bytes{0});
    /// Later launches ask for the largest L1 (device::Launch::prefer_l1).
    void prefer_l1() { prefer_l1_ = true; }
    [[nodiscard]] const std::string& name() const { return name_; }
    /// One check for each expectation.
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

}  // namespace gputomo::measure
