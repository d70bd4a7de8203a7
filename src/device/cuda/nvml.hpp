// Clocks, processes, temperature and power from NVML, where it is installed.
#pragma once

#include "device/device.hpp"

#include <string>

namespace gputomo::device::cuda {

class Nvml {
public:
    /// Finds the GPU by PCI bus id; without the library or the GPU every state() is empty.
    explicit Nvml(const std::string& bus_id);
    [[nodiscard]] ClockState state() const;

private:
    template <class F>
    F function(const char* symbol) const;
    void* library_ = nullptr;
    void* device_ = nullptr;
};

}  // namespace gputomo::device::cuda
