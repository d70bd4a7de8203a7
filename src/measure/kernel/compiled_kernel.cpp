#include "measure/kernel/compiled_kernel.hpp"

#include <utility>

namespace gputomo::measure {

ptx::Target target_of(const device::Device& device) {
    const auto target = device.ptx_target();
    return {target.version_major, target.version_minor, target.sm};
}

CompiledKernel::CompiledKernel(device::Device& device, const ptx::KernelBuilder& builder,
                               const std::vector<CodeExpectation>& expected)
    : CompiledKernel(device.load(builder.text()), builder.name(), expected) {}

CompiledKernel::CompiledKernel(std::shared_ptr<device::Module> module, std::string name,
                               const std::vector<CodeExpectation>& expected)
    : name_(std::move(name)), module_(std::move(module)), kernel_(&module_->kernel(name_)) {
    for (const CodeExpectation& expectation : expected) {
        code_checks_.push_back(check_code(module_->machine_code(), name_, expectation));
        require(code_checks_.back());
    }
}

device::LaunchResult CompiledKernel::launch(device::Dim3 grid, device::Dim3 block, const device::Arguments& arguments,
                                            Bytes dynamic_shared) {
    device::Launch launch;
    launch.grid = grid;
    launch.block = block;
    launch.arguments = arguments;
    launch.dynamic_shared = dynamic_shared;
    launch.prefer_l1 = prefer_l1_;
    return kernel_->launch(launch);
}

}  // namespace gputomo::measure
