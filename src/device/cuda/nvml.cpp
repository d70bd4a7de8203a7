#include "device/cuda/nvml.hpp"

#include <dlfcn.h>

#include <vector>

namespace gputomo::device::cuda {
namespace {

constexpr int kSmClock = 1, kMemoryClock = 2, kGpuTemperature = 0;

/// nvmlProcessInfo_v2_t
struct ProcessInfo {
    unsigned pid = 0;
    unsigned long long used_memory = 0;
    unsigned gpu_instance = 0, compute_instance = 0;
};

}  // namespace

template <class F>
F Nvml::function(const char* symbol) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<F>(dlsym(library_, symbol));
}

Nvml::Nvml(const std::string& bus_id) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    const auto init = function<int (*)()>("nvmlInit_v2");
    const auto find = function<int (*)(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
    if (init == nullptr || find == nullptr || init() != 0 || find(bus_id.c_str(), &device_) != 0) device_ = nullptr;
}

ClockState Nvml::state() const {
    ClockState state;
    if (device_ == nullptr) return state;
    if (const auto clock = function<int (*)(void*, int, unsigned*)>("nvmlDeviceGetClockInfo"); clock != nullptr) {
        unsigned mhz = 0;
        if (clock(device_, kSmClock, &mhz) == 0) state.sm_mhz = mhz;
        if (clock(device_, kMemoryClock, &mhz) == 0) state.memory_mhz = mhz;
    }
    if (const auto temperature = function<int (*)(void*, int, unsigned*)>("nvmlDeviceGetTemperature"); temperature != nullptr) {
        unsigned celsius = 0;
        if (temperature(device_, kGpuTemperature, &celsius) == 0) state.temperature_celsius = celsius;
    }
    if (const auto power = function<int (*)(void*, unsigned*)>("nvmlDeviceGetPowerUsage"); power != nullptr) {
        unsigned milliwatt = 0;
        if (power(device_, &milliwatt) == 0) state.power_watt = milliwatt / 1e3;
    }
    if (const auto processes = function<int (*)(void*, unsigned*, ProcessInfo*)>("nvmlDeviceGetComputeRunningProcesses_v2"); processes != nullptr) {
        std::vector<ProcessInfo> infos(64);
        auto count = static_cast<unsigned>(infos.size());
        // This process is one of them.
        if (processes(device_, &count, infos.data()) == 0) state.other_processes = count > 0 ? static_cast<int>(count) - 1 : 0;
    }
    return state;
}

}  // namespace gputomo::device::cuda
