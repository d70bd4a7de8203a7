#include "device/cuda/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace gputomo::device::cuda {
namespace {

constexpr int kListAttempts = 4;  // processes may start between asking for their number and for the list

/// The bits of nvmlClocksThrottleReasons. An idle GPU lowers its clocks as well, which is no disturbance, but says why
/// they are low.
struct ThrottleReason {
    unsigned long long bit;
    const char* name;
};
constexpr ThrottleReason kThrottleReasons[] = {
    {0x1, "idle"},
    {0x2, "application clocks"},
    {0x4, "power cap"},
    {0x8, "hardware slowdown"},
    {0x10, "sync boost"},
    {0x20, "thermal slowdown by software"},
    {0x40, "thermal slowdown by hardware"},
    {0x80, "power brake"},
    {0x100, "display clocks"},
};

std::vector<std::string> names_of_reasons(unsigned long long reasons) {
    std::vector<std::string> names;
    for (const auto& [bit, name] : kThrottleReasons) {
        if ((reasons & bit) != 0) names.emplace_back(name);
        reasons &= ~bit;
    }
    if (reasons != 0) names.push_back(fmt::format("unknown reason {:#x}", reasons));
    return names;
}

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
    for (const std::string& uuid : uuids) {
        if (device_ != nullptr || call.device_by_uuid == nullptr) break;
        if (call.device_by_uuid(uuid.c_str(), &device_) != 0) device_ = nullptr;
        is_instance_ = device_ != nullptr && uuid.starts_with("MIG-");
    }
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

std::optional<double> NvmlGpu::most_clock_mhz(int domain) const {
    unsigned mhz = 0;
    const auto& call = nvml_->functions();
    if (call.max_clock_info == nullptr || call.max_clock_info(device_, domain, &mhz) != 0) return std::nullopt;
    return mhz;
}

/// NVML answers this of a whole GPU only, and refuses it of one that cannot be divided.
std::optional<bool> NvmlGpu::is_divided() const {
    if (is_instance_) return true;
    unsigned current = 0, pending = 0;
    const auto& call = nvml_->functions();
    if (call.mig_mode == nullptr) return std::nullopt;
    const abi::NvmlResult result = call.mig_mode(device_, &current, &pending);
    if (result == abi::kNvmlNotSupported) return false;
    if (result != 0) return std::nullopt;
    return current == abi::kNvmlEnabled;
}

GpuCondition NvmlGpu::condition() const {
    GpuCondition condition;
    if (device_ == nullptr) return condition;
    const auto& call = nvml_->functions();
    condition.most_sm_mhz = most_clock_mhz(abi::kNvmlClockSm);
    condition.most_memory_mhz = most_clock_mhz(abi::kNvmlClockMemory);
    abi::NvmlMemory memory{};
    if (call.memory_info != nullptr && call.memory_info(device_, &memory) == 0) {
        condition.memory = Bytes{static_cast<std::int64_t>(memory.total)};
        condition.free_memory = Bytes{static_cast<std::int64_t>(memory.free)};
    }
    int value = 0;
    if (call.persistence_mode != nullptr && call.persistence_mode(device_, &value) == 0)
        condition.persistence = value == abi::kNvmlEnabled;
    if (call.compute_mode != nullptr && call.compute_mode(device_, &value) == 0 && value >= 0 &&
        value <= static_cast<int>(ComputeMode::one_process))
        condition.compute_mode = static_cast<ComputeMode>(value);
    condition.mig = is_divided();
    condition.processes = compute_processes();
    return condition;
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

void NvmlGpu::add_ecc(ClockState& state) const {
    const auto& call = nvml_->functions();
    int current = 0, pending = 0;
    if (call.ecc_mode == nullptr || call.ecc_mode(device_, &current, &pending) != 0) return;
    state.ecc = current == abi::kNvmlEnabled;
    unsigned long long errors = 0;
    if (*state.ecc && call.ecc_errors != nullptr &&
        call.ecc_errors(device_, abi::kNvmlErrorUncorrected, abi::kNvmlCounterVolatile, &errors) == 0)
        state.ecc_uncorrected = static_cast<std::int64_t>(errors);
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
    // Drivers since 535 have the first call, which replaces the second one.
    const auto reasons_call = call.event_reasons != nullptr ? call.event_reasons : call.throttle_reasons;
    unsigned long long reasons = 0;
    if (reasons_call != nullptr && reasons_call(device_, &reasons) == 0)
        state.throttle_reasons = names_of_reasons(reasons);
    add_ecc(state);
    if (const auto pids = compute_processes())
        state.other_processes =
            static_cast<int>(std::count_if(pids->begin(), pids->end(), [&](unsigned pid) { return pid != own_pid; }));
    return state;
}

std::string NvmlGpu::driver_version() const {
    std::array<char, abi::kNvmlVersionLength> text{};
    if (nvml_ == nullptr || !nvml_->available() || nvml_->functions().driver_version == nullptr ||
        nvml_->functions().driver_version(text.data(), static_cast<unsigned>(text.size()) - 1) != 0)
        return {};
    return text.data();
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
