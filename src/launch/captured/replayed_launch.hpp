// A captured launch, ready to run on the simulated GPU's memory: code, parameters, and memory at its own addresses.
#pragma once

#include "capture/capture.hpp"
#include "device/cubin.hpp"
#include "sim/exec/texture.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/memory/device_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::launch {

/// Where memory after a launch is not what the GPU left there.
struct Difference {
    std::string buffer;        ///< "the device buffer at 0x7f00"
    std::uint64_t offset = 0;  ///< of the first byte that differs
    std::uint64_t bytes = 0;   ///< that differ, of those compared
    std::uint64_t compared = 0;
    int found = 0, expected = 0;  ///< that byte
};

/// Compares the bytes of a buffer with its content in a capture.
[[nodiscard]] std::optional<Difference> difference(const capture::Buffer& expected, std::span<const std::byte> made,
                                                   capture::MemoryReader& reader);

/// What the reduction of a launch could not prove or changed (docs/capture.md); empty where there is nothing.
[[nodiscard]] std::string lost_by_reduction(const capture::Launch& launch);

class ReplayedLaunch {
public:
    /// Throws InputError that names what the capture lacks: a launch of a kernel, machine code, parameters, memory.
    ReplayedLaunch(const capture::Capture& capture, const capture::Launch& launch);
    ReplayedLaunch(const ReplayedLaunch&) = delete;
    ReplayedLaunch& operator=(const ReplayedLaunch&) = delete;

    [[nodiscard]] const std::string& kernel() const { return program_.kernel; }
    [[nodiscard]] const capture::Shape& shape() const { return shape_; }
    [[nodiscard]] const sim::machine_code::MachineProgram& program() const { return program_; }
    [[nodiscard]] const sim::DeviceMemory& memory() const { return memory_; }
    /// Refers to this object.
    [[nodiscard]] sim::machine_code::FunctionalLaunch launch() const;

    /// The host's bytes behind a buffer of the launch.
    [[nodiscard]] std::byte* bytes_of(const capture::Buffer& buffer) const;

    /// Compares memory with what the GPU left. A buffer without content is not compared.
    [[nodiscard]] std::vector<Difference> compare(const std::vector<capture::Buffer>& results,
                                                  capture::MemoryReader& reader) const;

private:
    void place(const std::vector<capture::Buffer>& buffers, capture::MemoryReader& reader);
    /// The address of a section with variables; the first call places it.
    std::uint64_t section_address(std::string_view name);
    void place_section(const device::Cubin::Section& section, std::optional<std::uint64_t> address);
    void place_variable(const capture::Buffer& buffer, capture::MemoryReader& reader);

    const capture::Shape& shape_;
    std::string code_;
    device::Cubin cubin_;
    sim::DeviceMemory memory_;
    std::map<std::string, std::uint64_t, std::less<>> sections_;
    sim::machine_code::MachineProgram program_;
    std::vector<std::byte> parameters_;
    sim::TextureTable textures_;
};

}  // namespace gputomo::launch
