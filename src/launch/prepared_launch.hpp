// A launch of machine code, ready to be executed without timing: code, parameters, and memory at its own addresses.
#pragma once

#include "launch/launch.hpp"
#include "launch/memory_range.hpp"
#include "machine/machine.hpp"
#include "sass/cubin.hpp"
#include "sim/exec/texture.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/memory/device_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::launch {

class PreparedLaunch {
public:
    /// Throws InputError where the code is no cubin with that kernel, or memory or parameters do not fit it.
    explicit PreparedLaunch(const Launch& launch);
    PreparedLaunch(const PreparedLaunch&) = delete;
    PreparedLaunch& operator=(const PreparedLaunch&) = delete;

    [[nodiscard]] const sim::machine_code::MachineProgram& program() const { return program_; }
    /// Whether blocks are in clusters of several.
    [[nodiscard]] bool has_clusters() const { return has_clusters_; }
    [[nodiscard]] const sim::DeviceMemory& memory() const { return memory_; }
    /// The buffers of the launch, in order.
    [[nodiscard]] const std::vector<MemoryRange>& buffers() const { return buffers_; }
    /// Refers to this object.
    [[nodiscard]] sim::machine_code::FunctionalLaunch launch() const;
    /// With what its threads can ask of this GPU.
    [[nodiscard]] sim::machine_code::FunctionalLaunch launch_on(const machine::Machine& machine) const;

    /// The host's bytes behind memory of the launch. Throws InputError where there is none.
    [[nodiscard]] std::byte* bytes_of(const MemoryRange& range) const;

    /// Compares memory with what a GPU left there.
    [[nodiscard]] std::vector<Difference> compare(const std::vector<Buffer>& results,
                                                  const Tolerance& tolerance = {}) const;

private:
    void place(const Buffer& buffer);
    /// The address of a section with variables; the first call places it.
    std::uint64_t section_address(std::string_view name);
    void place_section(const sass::Cubin::Section& section, std::optional<std::uint64_t> address);
    /// Writes the content of a variable of the module.
    void fill_variable(const Buffer& buffer);

    std::string code_;
    sass::Cubin cubin_;
    sim::DeviceMemory memory_;
    std::vector<MemoryRange> buffers_;
    std::map<std::string, std::uint64_t, std::less<>> sections_;
    sim::machine_code::MachineProgram program_;
    sim::machine_code::FunctionalLaunch launch_;
    std::vector<std::byte> parameters_;
    sim::TextureTable textures_;
    bool has_clusters_ = false;
};

}  // namespace gputomo::launch
