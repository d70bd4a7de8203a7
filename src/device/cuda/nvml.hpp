// NVML (libnvidia-ml.so.1), opened at run time if it exists: clocks, temperature, power and processes of one GPU.
#pragma once

#include "device/cuda/abi.hpp"
#include "device/device.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::device::cuda {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

/// The NVML library. Without it, or if it lacks a call, every answer is nullopt.
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

/// Who may use a GPU (nvmlComputeMode_t).
enum class ComputeMode { any_process, one_thread, nobody, one_process };

/// How a GPU is set up, and what else uses it. What NVML does not report is nullopt.
struct GpuCondition {
    std::optional<double> most_sm_mhz;  ///< the highest clock that the GPU reaches
    std::optional<double> most_memory_mhz;
    std::optional<Bytes> memory;
    std::optional<Bytes> free_memory;
    std::optional<bool> persistence;  ///< whether the driver keeps the GPU initialised between programs
    std::optional<bool> mig;          ///< whether the GPU is divided into instances
    std::optional<ComputeMode> compute_mode;
    std::optional<std::vector<unsigned>> processes;  ///< process ids with a compute context
};

/// One GPU in NVML. NVML numbers GPUs differently from CUDA, so the GPU is found by its identifier.
class NvmlGpu {
public:
    /// `uuids` ("GPU-...") and `pci_bus_id` ("0000:3b:00.0") are tried in order; empty ones are skipped.
    NvmlGpu(std::shared_ptr<const Nvml> nvml, const std::vector<std::string>& uuids, const std::string& pci_bus_id);

    /// Process ids, as NVML lists them, with a compute context on this GPU; nullopt if they are unknown.
    [[nodiscard]] std::optional<std::vector<unsigned>> compute_processes() const;
    /// `own_pid`: NVML's process id of this process, which does not count among the others; nullopt if it is not
    /// listed.
    [[nodiscard]] ClockState state(std::optional<unsigned> own_pid) const;
    [[nodiscard]] GpuCondition condition() const;
    /// Version of the kernel driver, such as "570.86.15"; empty if it is unknown.
    [[nodiscard]] std::string driver_version() const;

private:
    void add_ecc(ClockState& state) const;
    [[nodiscard]] std::optional<double> clock_mhz(int domain) const;
    [[nodiscard]] std::optional<double> most_clock_mhz(int domain) const;
    [[nodiscard]] std::optional<bool> is_divided() const;

    std::shared_ptr<const Nvml> nvml_;
    abi::NvmlDevice device_ = nullptr;
    bool is_instance_ = false;  ///< an instance of a divided GPU (MIG)
};

/// Text of an identifier with the given prefix: "GPU-12345678-1234-1234-1234-123456789abc" for "GPU".
[[nodiscard]] std::string uuid_text(const abi::Uuid& uuid, const std::string& prefix);

}  // namespace gputomo::device::cuda
