#include "launch/profile/loaded_kernel.hpp"

#include "sim/sm/engine.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace gputomo::launch {

sim::machine_code::MachineProgram load_kernel(sim::SimulatedDevice& gpu, const device::Cubin& cubin,
                                              std::string_view kernel) {
    std::map<std::string, std::uint64_t, std::less<>> addresses;
    return sim::machine_code::prepare(cubin, kernel, [&](std::string_view name) {
        if (const auto known = addresses.find(name); known != addresses.end()) return known->second;
        const auto* const section = cubin.section(name);
        if (section == nullptr || section->size == 0)
            throw InputError(fmt::format("the module has no section '{}'; expected one with variables", name));
        const auto address = gpu.allocate(Bytes(static_cast<std::int64_t>(section->size)));
        gpu.copy_to_device(address, section->bytes);
        addresses.emplace(section->name, address);
        return address;
    });
}

std::vector<std::byte> parameter_space(const sim::machine_code::MachineProgram& program,
                                       const device::Arguments& arguments) {
    std::vector<sim::ParameterPlace> places;
    for (const auto& parameter : program.parameters) places.push_back({parameter.offset, parameter.bytes});
    return sim::packed_parameters(program.kernel, places, program.parameter_bytes, arguments);
}

}  // namespace gputomo::launch
