// A loaded module and its kernels on a CUDA device.
#pragma once

#include "device/cuda/session.hpp"
#include "device/device.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gputomo::device::cuda {

class CudaKernel final : public Kernel {
public:
    CudaKernel(std::shared_ptr<Session> session, abi::Function function, std::string name);

    [[nodiscard]] const std::string& name() const override { return name_; }
    [[nodiscard]] KernelProperties properties() const override { return properties_; }
    LaunchResult launch(const Launch& launch) override;
    /// Puts a launch into the session's stream, without waiting for it.
    void enqueue(const Launch& launch);

private:
    [[nodiscard]] int attribute(int which, const char* label);
    void read_parameters();
    void check_arguments(const Arguments& arguments) const;
    void prepare_shared_memory(const Launch& launch);
    [[nodiscard]] int carveout_for(Bytes shared);
    void enqueue_with_attributes(const Launch& launch, void** extra, const std::string& context);

    std::shared_ptr<Session> session_;
    abi::Function function_;
    std::string name_;
    KernelProperties properties_;
    /// Offset and size in bytes of each parameter, if the driver reports them (CUDA 12.4 and later).
    std::vector<std::pair<std::size_t, std::size_t>> parameters_;
    bool parameters_known_ = false;
    int dynamic_shared_allowed_ = 0;
    int carveout_ = abi::kCarveoutDefault;
};

/// Runs a sequence of launches of CudaKernels (device::Device::run()).
[[nodiscard]] std::vector<Nanoseconds> run_sequence(Session& session, std::span<const QueuedLaunch> sequence,
                                                    std::chrono::milliseconds limit);

class CudaModule final : public Module {
public:
    /// Loads the machine code into the session's context.
    CudaModule(std::shared_ptr<Session> session, std::vector<std::byte> cubin);
    CudaModule(const CudaModule&) = delete;
    CudaModule& operator=(const CudaModule&) = delete;
    ~CudaModule() override;

    Kernel& kernel(std::string_view name) override;
    [[nodiscard]] const std::optional<MachineCode>& machine_code() const override { return code_; }
    Symbol symbol(std::string_view name) override;

private:
    std::shared_ptr<Session> session_;
    std::optional<MachineCode> code_;
    abi::Module module_ = nullptr;
    std::map<std::string, std::unique_ptr<CudaKernel>, std::less<>> kernels_;
};

}  // namespace gputomo::device::cuda
