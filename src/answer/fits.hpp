// Whether a GPU can execute a launch, with messages that say what it lacks.
#pragma once

#include "device/device.hpp"
#include "launch/launch.hpp"
#include "machine/machine.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gputomo::answer {

/// The compute capability of the machine code that is executed for a GPU: its own. For one after 9.0, whose machine
/// code is not known, it is 90: that code stands in for its own. 0 where there is none.
[[nodiscard]] int machine_code_for(int sm);
/// A warning that the machine code of a launch is not what `machine` executes. It stands in for what the compiler would
/// make. nullopt where it is executed there, and for PTX.
[[nodiscard]] std::optional<std::string> code_of_another_gpu(const launch::Launch& launch,
                                                             const machine::Machine& machine);

/// Throws InputError where `gpu` executes no machine code. `where` begins the message, and `expected` says what would
/// work.
void check_machine_code(const device::Device& gpu, const std::string& where, std::string_view expected);
/// Throws InputError where `gpu` cannot execute a cubin, because its machine code is for another GPU.
void check_cubin(const device::Device& gpu, std::string_view cubin, const std::string& where);
/// Throws InputError where `asked` is more than the device's attribute. `what` names what asks, with its value.
void check_limit(const device::Device& gpu, device::Attribute attribute, std::uint64_t asked, std::string_view what,
                 std::string_view unit);

/// What asks for grid, block and dynamic shared memory, in messages: "--grid 5,1", "the grid (5, 1, 1)".
struct ShapeNames {
    std::string grid, block, shared;
};
/// Throws InputError where grid, block or dynamic shared memory are more than `gpu` launches.
void check_shape(const device::Device& gpu, const device::Dim3& grid, const device::Dim3& block, std::uint64_t shared,
                 const ShapeNames& names);

}  // namespace gputomo::answer
