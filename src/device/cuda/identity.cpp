#include "device/cuda/identity.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace gputomo::device::cuda {
namespace {

std::optional<abi::Uuid> raw_uuid_of(const Driver& driver, int index) {
    abi::Uuid uuid{};
    const auto get = driver.functions().device_get_uuid;
    if (get == nullptr || get(&uuid, driver.device(index)) != abi::kSuccess) return std::nullopt;
    return uuid;
}

std::string pci_bus_id_of(const Driver& driver, int index) {
    std::array<char, 32> bus{};
    const auto get = driver.functions().device_get_pci_bus_id;
    if (get == nullptr || get(bus.data(), static_cast<int>(bus.size()) - 1, driver.device(index)) != abi::kSuccess)
        return {};
    return bus.data();
}

}  // namespace

std::string uuid_of(const Driver& driver, int index) {
    const auto uuid = raw_uuid_of(driver, index);
    return uuid ? uuid_text(*uuid, "GPU") : std::string();
}

NvmlGpu find_in_nvml(const Driver& driver, std::shared_ptr<const Nvml> nvml, int index) {
    std::vector<std::string> uuids;
    if (const auto uuid = raw_uuid_of(driver, index)) uuids = {uuid_text(*uuid, "GPU"), uuid_text(*uuid, "MIG")};
    return {std::move(nvml), uuids, pci_bus_id_of(driver, index)};
}

Identification identification_of(const Driver& driver, const NvmlGpu& gpu, int index) {
    const int cuda = driver.version();  // 12080 for CUDA 12.8
    return {.driver = gpu.driver_version(),
            .cuda = fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10),
            .pci_bus_id = pci_bus_id_of(driver, index),
            .description = {}};
}

}  // namespace gputomo::device::cuda
