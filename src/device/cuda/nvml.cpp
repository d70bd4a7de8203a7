#include "device/cuda/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace gputomo::device::cuda {
namespace {

constexpr int kListAttempts = 4;  // processes may start between asking for their number and for the list

template <class Pointer>
void resolve(void* handle, const char* symbol, Pointer& pointer) {
    void* const address = dlsym(handle, symbol);
    std::memcpy(&pointer, &address, sizeof(pointer));
}

}  // namespace

Nvml::Nvml(const std::string& library) {
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return;
#define GPUTOMO_NVML_RESOLVE(member, symbol, parameters) resolve(handle, symbol, functions_.member);
    GPUTOMO_NVML_OPTIONAL(GPUTOMO_NVML_RESOLVE)
#undef GPUTOMO_NVML_RESOLVE
    available_ = functions_.init != nullptr && functions_.init() == 0;
}

Nvml::~Nvml() {
    if (available_ && functions_.shutdown != nullptr) functions_.shutdown();
}

NvmlGpu::NvmlGpu(std::shared_ptr<const Nvml> nvml, const std::vector<std::string>& uuids, const std::string& pci_bus_id)
    : nvml_(std::move(nvml)) {
    if (nvml_ == nullptr || !nvml_->available()) return;
    const auto& call = nvml_->functions();
    for (const std::string& uuid : uuids)
        if (device_ == nullptr && call.device_by_uuid != nullptr && call.device_by_uuid(uuid.c_str(), &device_) != 0)
            device_ = nullptr;
    if (device_ == nullptr && !pci_bus_id.empty() && call.device_by_pci != nullptr &&
        call.device_by_pci(pci_bus_id.c_str(), &device_) != 0)
        device_ = nullptr;
}

std::optional<double> NvmlGpu::clock_mhz(int domain) const {
    unsigned mhz = 0;
    const auto& call = nvml_->functions();
    if (call.clock_info == nullptr || call.clock_info(device_, domain, &mhz) != 0) return std::nullopt;
    return mhz;
}

std::optional<std::vector<unsigned>> NvmlGpu::compute_processes() const {
    if (device_ == nullptr || nvml_->functions().processes == nullptr) return std::nullopt;
    std::vector<abi::NvmlProcess> list(16);
    for (int attempt = 0; attempt < kListAttempts; ++attempt) {
        auto count = static_cast<unsigned>(list.size());
        const abi::NvmlResult result = nvml_->functions().processes(device_, &count, list.data());
        if (result == abi::kNvmlInsufficientSize) {
            list.resize(std::max<std::size_t>(count, list.size()) * 2);
            continue;
        }
        if (result != 0 || count > list.size()) return std::nullopt;
        std::vector<unsigned> pids;
        for (unsigned i = 0; i < count; ++i) pids.push_back(list[i].pid);
        return pids;
    }
    return std::nullopt;
}

ClockState NvmlGpu::state(std::optional<unsigned> own_pid) const {
    ClockState state;
    if (device_ == nullptr) return state;
    const auto& call = nvml_->functions();
    state.sm_mhz = clock_mhz(abi::kNvmlClockSm);
    state.memory_mhz = clock_mhz(abi::kNvmlClockMemory);
    unsigned value = 0;
    if (call.temperature != nullptr && call.temperature(device_, abi::kNvmlTemperatureGpu, &value) == 0)
        state.temperature_celsius = value;
    if (call.power_usage != nullptr && call.power_usage(device_, &value) == 0)
        state.power_watt = value / 1000.0;  // NVML gives mW
    if (const auto pids = compute_processes())
        state.other_processes =
            static_cast<int>(std::count_if(pids->begin(), pids->end(), [&](unsigned pid) { return pid != own_pid; }));
    return state;
}

std::string uuid_text(const abi::Uuid& uuid, const std::string& prefix) {
    std::string text = prefix + "-";
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", uuid.bytes[i]);
    }
    return text;
}

}  // namespace gputomo::device::cuda
