#include "launch/launch.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace gputomo::launch {

std::vector<std::byte> value_of(const Argument& argument, std::span<const device::Address> addresses) {
    if (!argument.buffer) return argument.bytes;
    constexpr std::size_t kAddress = sizeof(device::Address);
    std::vector<std::byte> value = argument.bytes;
    value.resize(std::max(value.size(), kAddress));
    std::memcpy(value.data(), &addresses[*argument.buffer], kAddress);
    return value;
}

std::vector<std::byte> parameter_space(const Launch& launch, std::span<const device::Address> addresses,
                                       std::uint64_t bytes) {
    std::vector<std::byte> space(bytes);
    for (const Argument& argument : launch.arguments) {
        const auto value = value_of(argument, addresses);
        if (argument.offset > space.size() || value.size() > space.size() - argument.offset)
            throw InputError(
                fmt::format("kernel '{}': a parameter of {} bytes at {}; expected one within the {} bytes "
                            "that its code takes",
                            launch.kernel, value.size(), argument.offset, space.size()));
        std::memcpy(space.data() + argument.offset, value.data(), value.size());
    }
    return space;
}

void refuse_clusters(const Launch& launch) {
    if (launch.cluster)
        throw InputError(fmt::format(
            "the launch of '{}' has clusters of {}x{}x{} blocks, in which PTX is not simulated; expected machine code",
            launch.kernel, launch.cluster->x, launch.cluster->y, launch.cluster->z));
}

}  // namespace gputomo::launch
