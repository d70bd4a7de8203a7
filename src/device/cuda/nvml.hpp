// NVML (libnvidia-ml.so.1), opened at run time: clocks, temperature, power and other processes of one GPU. All of it
// optional.
#pragma once

#include "device/cuda/abi.hpp"
#include "device/device.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::device::cuda {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

/// NVML, as far as this machine has it: without the library, or with a call missing, every answer is nullopt.
class Nvml {
public:
    explicit Nvml(const std::string& library = kNvmlLibrary);
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;
    ~Nvml();

    [[nodiscard]] const abi::NvmlFunctions& functions() const { return functions_; }
    [[nodiscard]] bool available() const { return available_; }

private:
    abi::NvmlFunctions functions_;
    bool available_ = false;
};

/// One GPU as NVML sees it. NVML numbers GPUs differently from CUDA, so it is found by its identifier.
class NvmlGpu {
public:
    /// `uuids` ("GPU-...") and `pci_bus_id` ("0000:3b:00.0") are tried in order; empty ones are skipped.
    NvmlGpu(std::shared_ptr<const Nvml> nvml, const std::vector<std::string>& uuids, const std::string& pci_bus_id);

    /// Process ids with a compute context on this GPU, as NVML counts them; nullopt when it can't tell.
    [[nodiscard]] std::optional<std::vector<unsigned>> compute_processes() const;
    /// `own_pid`: how NVML names this process, so that it isn't counted among the others; nullopt where it doesn't list
    /// it.
    [[nodiscard]] ClockState state(std::optional<unsigned> own_pid) const;

private:
    [[nodiscard]] std::optional<double> clock_mhz(int domain) const;

    std::shared_ptr<const Nvml> nvml_;
    abi::NvmlDevice device_ = nullptr;
};

/// "GPU-12345678-1234-1234-1234-123456789abc" with the given prefix instead of "GPU".
[[nodiscard]] std::string uuid_text(const abi::Uuid& uuid, const std::string& prefix);

}  // namespace gputomo::device::cuda
