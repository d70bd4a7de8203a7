#include "sim/machine_code/launch_state.hpp"

#include "sim/exec/lane_fault.hpp"
#include "sim/machine_code/unknown_values.hpp"
#include "sim/machine_code/warp.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace gputomo::sim::machine_code {
namespace {

void add_cluster(std::vector<std::uint32_t>& bank, const device::Dim3& grid, const device::Dim3& cluster) {
    bank.resize(std::max<std::size_t>(bank.size(), kClusterSizeAt / 4 + 1));
    const std::array<std::uint32_t, 3> blocks{cluster.x, cluster.y, cluster.z}, of_grid{grid.x, grid.y, grid.z};
    std::size_t word = kClusterAt / 4;
    bank[word++] = cluster.count() > 1 ? 1 : 0;
    for (const std::uint32_t count : blocks) bank[word++] = count;
    for (const std::uint32_t count : blocks)
        bank[word++] = std::bit_cast<std::uint32_t>(1.0F / static_cast<float>(count));
    for (std::size_t i = 0; i < blocks.size(); ++i) bank[word++] = of_grid[i] / blocks[i];
    bank[kClusterSizeAt / 4] = static_cast<std::uint32_t>(cluster.count());
}

}  // namespace

std::array<std::vector<std::uint32_t>, 8> constants_of(const MachineProgram& program, const LaunchConstants& launch) {
    constexpr std::size_t kLocalWindowWord = 0x20 / 4, kStackWord = 0x28 / 4;
    const auto& [grid, block, cluster, parameters, dynamic_shared, sms, grid_barrier] = launch;
    if (parameters.size() != program.parameter_bytes)
        throw InputError(fmt::format("kernel '{}': its parameters take {} bytes; {} bytes of arguments were given",
                                     program.kernel, program.parameter_bytes, parameters.size()));
    if (program.uses_sm_count && sms == 0)
        throw InputError(
            fmt::format("kernel '{}' asks for the number of SMs (%nsmid), which is not known without a "
                        "described GPU",
                        program.kernel));
    auto constants = program.constants;
    auto& bank = constants[0];
    bank.resize(std::max(bank.size(), kStackWord + 1));
    const std::array<std::uint32_t, 6> dimensions{block.x, block.y, block.z, grid.x, grid.y, grid.z};
    std::ranges::copy(dimensions, bank.begin());
    constexpr std::size_t kSharedWindowWord = kSharedWindowAt / 4;
    bank[kSharedWindowWord] = static_cast<std::uint32_t>(kSharedWindow);
    bank[kSharedWindowWord + 1] = static_cast<std::uint32_t>(kSharedWindow >> 32);
    bank[kLocalWindowWord] = static_cast<std::uint32_t>(kLocalWindow);
    bank[kLocalWindowWord + 1] = static_cast<std::uint32_t>(kLocalWindow >> 32);
    bank[kStackWord] = static_cast<std::uint32_t>(program.local_bytes);
    bank.resize(std::max<std::size_t>(bank.size(), kSmCountAt / 4 + 1));
    bank[kDynamicSharedAt / 4] = static_cast<std::uint32_t>(dynamic_shared);
    bank[kSmCountAt / 4] = sms;
    if (program.sm >= 90) {
        const auto put_address = [&](std::int64_t offset, std::uint64_t address) {
            const auto word = static_cast<std::size_t>(offset) / 4;
            bank.resize(std::max(bank.size(), word + 2));
            bank[word] = static_cast<std::uint32_t>(address);
            bank[word + 1] = static_cast<std::uint32_t>(address >> 32);
        };
        put_address(kParametersAddressAt, kConstantWindow + program.parameter_offset);
        put_address(kConstantsAddressAt, kConstantWindow);
        for (const EnvironmentWord& word : kEnvironment) bank[static_cast<std::size_t>(word.at) / 4] = word.value;
        add_cluster(bank, grid, cluster);
    }
    if (grid_barrier != 0) {
        bank.resize(std::max<std::size_t>(bank.size(), kGridBarrierLower / 4 + 1));
        bank[kGridBarrierLower / 4] = static_cast<std::uint32_t>(grid_barrier);
        bank[kGridBarrierUpper / 4] = static_cast<std::uint32_t>(grid_barrier >> 32);
    }
    if (!parameters.empty())
        std::memcpy(reinterpret_cast<std::byte*>(bank.data()) + program.parameter_offset, parameters.data(),
                    parameters.size());
    return constants;
}

const std::byte* constant_bytes_at(const BlockState& block, std::uint64_t address, std::uint64_t bytes) {
    const auto& bank = (*block.constants)[0];
    const std::uint64_t offset = address - kConstantWindow;
    if (offset >= 4 * bank.size() || offset + bytes > 4 * bank.size()) return nullptr;
    return reinterpret_cast<const std::byte*>(bank.data()) + offset;
}

Warp::Warp(const MachineProgram& program)
    : registers(program.register_rows), local(program.local_bytes * kWarpSize), local_bytes(program.local_bytes) {}

void Warp::start(BlockState& its_block, std::uint32_t its_number, std::uint32_t its_lanes) {
    block = &its_block;
    number = slot = its_number;
    lanes = its_lanes;
    std::ranges::fill(registers, Row{});
    uniforms = {};
    predicates = {};
    uniform_predicates = {};
    predicates[sass::kTruePredicate] = kAllLanes;
    uniform_predicates[sass::kTruePredicate] = kAllLanes;
    convergence = {};
    barrier_result = 0;
    registers_held = block->program->registers;
    if (number == 0) block->spare_registers = 0;
    block->group_arrivals[number] = 0;
    std::ranges::fill(local, std::byte{0});
}

void Warp::note_read(std::size_t reg) const { unknown->read = unknown->read || unknown->registers[reg]; }

void Warp::note_read_predicate(std::uint8_t number) const {
    unknown->read = unknown->read || (unknown->predicates >> number & 1) != 0;
}

void Warp::note_written(const Destination& destination, std::size_t reg) const {
    if (destination.uniform)
        unknown->writes_uniform = unknown->writes_uniform || destination.reg != sass::kZeroUniformRegister;
    else if (destination.reg != sass::kZeroRegister)
        unknown->written.set(reg);
}

void Warp::note_written_predicate(const PredicateSource& to) const {
    if (to.uniform)
        unknown->writes_uniform = true;
    else
        unknown->written_predicates |= static_cast<std::uint8_t>(1U << to.number);
}

void leave_unknown(Warp& warp, const Step& step, int words) {
    for (int word = 0; word < words; ++word) (void)warp.result(step, word);
    warp.unknown->read = true;
}

View Warp::view(const Step& step, int which, int word) const {
    static constexpr std::uint32_t kZero = 0;
    const Source& source = step.source[static_cast<std::size_t>(which)];
    const auto w = static_cast<std::size_t>(word);
    View view{&kZero, 0, source.keep, source.flip, source.plus};
    switch (source.kind) {
        case Source::Kind::zero: break;
        case Source::Kind::reg:
            if (unknown != nullptr) note_read(source.reg + w);
            view.bits = registers[source.reg + w].data();
            view.step = 1;
            break;
        case Source::Kind::uniform: view.bits = &uniforms[source.reg + w]; break;
        case Source::Kind::immediate: view.bits = word == 0 ? &source.low : &source.high; break;
        case Source::Kind::constant: {
            const auto& bank = (*block->constants)[source.bank];
            const auto at = static_cast<std::uint64_t>(source.offset) / 4 + w;
            if (at >= bank.size())
                throw LaneFault(0, fmt::format("illegal offset {:#x} in constant bank {} of {:#x} bytes", source.offset,
                                               source.bank, 4 * bank.size()));
            view.bits = &bank[at];
            break;
        }
    }
    return view;
}

}  // namespace gputomo::sim::machine_code
