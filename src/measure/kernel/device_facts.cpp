#include "measure/kernel/device_facts.hpp"

namespace gputomo::measure {

using enum device::Attribute;

std::uint32_t sms_of(const device::Device& device) {
    return static_cast<std::uint32_t>(device.attribute(multiprocessor_count).value_or(1));
}

double current_sm_mhz(const device::Device& device) {
    return device.clock_state().sm_mhz.value_or(
        static_cast<double>(device.attribute(clock_rate_khz).value_or(1'000'000)) / 1000);
}

std::uint64_t aliased_page(const device::Device& device) {
    const bool can = device.attribute(virtual_memory_management).value_or(0) == 1;
    return can ? static_cast<std::uint64_t>(device.mapping_granularity().count()) : 0;
}

}  // namespace gputomo::measure
