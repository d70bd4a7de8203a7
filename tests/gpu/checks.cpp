#include "smoke.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::gpu_smoke {
namespace {

using device::Attribute;
using device::Buffer;
using device::Device;
using device::Launch;
using device::Module;

constexpr std::uint32_t kUntouched = 0xdeadbeef;

std::string number(const std::optional<double>& value, const char* unit) {
    return value ? fmt::format("{} {}", *value, unit) : "unknown";
}

void attributes(Device& device, Report& report) {
    const auto target = device.ptx_target();
    report.note(fmt::format("{} is {}, PTX {}.{} for sm_{}", device.id(), device.name(), target.version_major,
                            target.version_minor, target.sm));
    const std::pair<const char*, Attribute> wanted[] = {
        {"compute_capability_major", Attribute::compute_capability_major},
        {"compute_capability_minor", Attribute::compute_capability_minor},
        {"multiprocessor_count", Attribute::multiprocessor_count},
        {"warp_size", Attribute::warp_size},
        {"max_threads_per_block", Attribute::max_threads_per_block},
        {"max_threads_per_multiprocessor", Attribute::max_threads_per_multiprocessor},
        {"max_blocks_per_multiprocessor", Attribute::max_blocks_per_multiprocessor},
        {"max_registers_per_block", Attribute::max_registers_per_block},
        {"max_registers_per_multiprocessor", Attribute::max_registers_per_multiprocessor},
        {"max_shared_memory_per_block", Attribute::max_shared_memory_per_block},
        {"max_shared_memory_per_block_optin", Attribute::max_shared_memory_per_block_optin},
        {"max_shared_memory_per_multiprocessor", Attribute::max_shared_memory_per_multiprocessor},
        {"clock_rate_khz", Attribute::clock_rate_khz},
        {"memory_clock_rate_khz", Attribute::memory_clock_rate_khz},
        {"memory_bus_width_bits", Attribute::memory_bus_width_bits},
        {"l2_cache_bytes", Attribute::l2_cache_bytes},
        {"total_memory_bytes", Attribute::total_memory_bytes},
        {"max_grid_x", Attribute::max_grid_x},
        {"max_grid_y", Attribute::max_grid_y},
        {"max_grid_z", Attribute::max_grid_z},
        {"max_block_x", Attribute::max_block_x},
        {"max_block_y", Attribute::max_block_y},
        {"max_block_z", Attribute::max_block_z},
        {"concurrent_kernels", Attribute::concurrent_kernels},
        {"virtual_memory_management", Attribute::virtual_memory_management},
    };
    for (const auto& [name, attribute] : wanted) {
        const auto value = device.attribute(attribute);
        report.expect(fmt::format("attribute {} = {}", name, value.value_or(-1)), value.has_value());
    }
}

void copies(Device& device, Report& report) {
    Buffer buffer(device, 1_MiB);
    std::vector<std::uint32_t> values(1 << 18);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i * 2654435761u);
    buffer.write(values);
    report.expect("1 MiB comes back as it went", buffer.read<std::uint32_t>(values.size()) == values);
    device.fill_u32(buffer.address() + 8, 0x12345678, 2);
    const auto head = buffer.read<std::uint32_t>(5);
    report.expect("fill_u32 fills its words and no others",
                  head == std::vector<std::uint32_t>{values[0], values[1], 0x12345678, 0x12345678, values[4]});
}

void arguments(Device& device, Module& module, Report& report) {
    Buffer out(device, Bytes(16));
    Launch launch;
    launch.arguments.add(out.address()).add(std::uint32_t{77}).add(std::uint64_t{0x1122334455667788}).add(2.5f);
    const auto result = module.kernel("store_arguments").launch(launch);
    const auto words = out.read<std::uint32_t>(4);
    report.expect("arguments of mixed alignment arrive",
                  words == std::vector<std::uint32_t>{77, 0x40200000, 0x55667788, 0x11223344});
    report.expect(fmt::format("elapsed time of a small kernel is {} ns", result.elapsed.count()),
                  result.elapsed > Nanoseconds(0) && result.elapsed < Nanoseconds(1e8));
    const auto properties = module.kernel("store_arguments").properties();
    report.expect(fmt::format("properties: {} registers, at most {} threads", properties.registers_per_thread,
                              properties.max_threads_per_block),
                  properties.registers_per_thread > 0 && properties.max_threads_per_block > 0);
    try {
        Launch missing;
        missing.arguments.add(out.address());
        module.kernel("store_arguments").launch(missing);
        report.expect("a missing argument is refused", false, "the launch succeeded");
    } catch (const DeviceError& error) {
        report.expect("a missing argument is refused", true, error.what());
    }
}

void symbols(Device& device, Module& module, Report& report) {
    Buffer out(device, Bytes(4));
    Launch launch;
    launch.arguments.add(out.address());
    module.kernel("use_symbols").launch(launch);
    const auto counter = module.symbol("counter");
    std::uint32_t value = 0;
    device.copy_to_host(std::as_writable_bytes(std::span(&value, 1)), counter.address);
    report.expect("a .global variable is found and was incremented", counter.size == Bytes(4) && value == 42,
                  fmt::format("{}", value));
    report.expect("a .const variable has its size and its value",
                  module.symbol("table").size == Bytes(16) && out.read<std::uint32_t>(1)[0] == 30);
    try {
        module.kernel("no_such_kernel");
        report.expect("an unknown kernel is an error", false);
    } catch (const InputError& error) {
        report.expect("an unknown kernel is an error", true, error.what());
    }
}

void dynamic_shared(Device& device, Module& module, Bytes size, bool prefer_l1, Report& report) {
    constexpr std::uint32_t kThreads = 256;
    Buffer out(device, Bytes(kThreads * 4));
    Launch launch;
    launch.block.x = kThreads;
    launch.dynamic_shared = size;
    launch.prefer_l1 = prefer_l1;
    launch.arguments.add(out.address()).add(static_cast<std::uint32_t>(size.count() / kThreads));
    module.kernel("use_dynamic_shared").launch(launch);
    bool right = true;
    const auto words = out.read<std::uint32_t>(kThreads);
    for (std::uint32_t i = 0; i < kThreads; ++i) right = right && words[i] == 1000 + (i + 1) % kThreads;
    report.expect(fmt::format("{} B of dynamic shared memory{}", size.count(), prefer_l1 ? ", L1 preferred" : ""),
                  right);
}

void textures(Device& device, Module& module, Report& report) {
    Buffer data(device, 64_KiB);
    std::vector<std::uint32_t> values(16384);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(3 * i + 0x80000000u);
    data.write(values);
    Buffer out(device, Bytes(4));
    Launch launch;
    launch.arguments.add(out.address())
        .add(device.linear_texture(data.address(), data.size(), device::TexelFormat::u32))
        .add(std::uint32_t{16000});
    module.kernel("read_texture").launch(launch);
    report.expect("a u32 texture reads the texel", out.read<std::uint32_t>(1)[0] == values[16000]);
    data.write(std::vector<float>{0.5f, 1.5f, -2.25f});
    Launch floats;
    floats.arguments.add(out.address())
        .add(device.linear_texture(data.address(), data.size(), device::TexelFormat::f32))
        .add(std::uint32_t{2});
    module.kernel("read_float_texture").launch(floats);
    report.expect("a f32 texture reads the texel", out.read<float>(1)[0] == -2.25f);
}

void aliases(Device& device, Module& module, Report& report) {
    const Bytes unit = device.mapping_granularity();
    report.expect(fmt::format("mapping granularity {} B", unit.count()), unit > Bytes(0));
    const auto before = device.attribute(Attribute::total_memory_bytes);
    const Bytes window = unit * 4096;
    const device::Address base = device.map_aliased(unit, unit * 2, window);
    const auto offset = static_cast<std::uint64_t>(unit.count());
    device.fill_u32(base, kUntouched, 4);
    Launch launch;
    launch.arguments.add(base + 2 * offset * 1000 + 4);
    module.kernel("write_to").launch(launch);
    std::array<std::uint32_t, 3> words{};
    device.copy_to_host(std::as_writable_bytes(std::span(words)), base);
    report.expect(fmt::format("a write through alias 1000 of 2048 is seen through alias 0 (window {} GiB, memory {} B)",
                              window.count() >> 30, before.value_or(0)),
                  words == std::array<std::uint32_t, 3>{kUntouched, 7, kUntouched},
                  fmt::format("{:x} {:x} {:x}", words[0], words[1], words[2]));
    device.free(base);
    const device::Address dense = device.map_aliased(unit * 2, unit * 2, unit * 64);
    device.fill_u32(dense + 62 * offset, 99, 1);
    device.copy_to_host(std::as_writable_bytes(std::span(words)), dense);
    report.expect("aliases without holes", words[0] == 99);
    device.free(dense);
    try {
        (void)device.map_aliased(unit, unit / 2, window);
        report.expect("a stride below the granularity is refused", false);
    } catch (const DeviceError& error) {
        report.expect("a stride below the granularity is refused", true, error.what());
    }
}

void machine_code(Device& device, Module& module, const std::string& dump, Report& report) {
    const auto& code = module.machine_code();
    report.expect(fmt::format("the cubin is in hand, {} B", code ? code->cubin.size() : 0),
                  code && !code->cubin.empty());
    if (code && !dump.empty())
        std::ofstream(dump + "/smoke.cubin", std::ios::binary)
            .write(reinterpret_cast<const char*>(code->cubin.data()), static_cast<std::streamsize>(code->cubin.size()));
    Buffer out(device, Bytes(16));
    Launch launch;
    launch.arguments.add(out.address()).add(1.0f);
    module.kernel("add_chain").launch(launch);
    module.kernel("add_chain").launch(launch);
    const auto cycles = out.read<std::uint64_t>(1)[0];
    report.expect(fmt::format("64 dependent additions take {} cycles", cycles), cycles >= 64 && cycles < 64 * 100);
}

void compile_error(Device& device, Report& report) {
    try {
        (void)device.load(broken_kernel(device));
        report.expect("broken PTX is an error that quotes the line", false, "it compiled");
    } catch (const DeviceError& error) {
        report.expect("broken PTX is an error that quotes the line",
                      std::string(error.what()).find(kBrokenText) != std::string::npos, error.what());
    }
}

void limits(Device& device, Module& module, Report& report) {
    try {
        Buffer huge(device, 1_GiB * 100000);
        report.expect("too large an allocation is an error", false);
    } catch (const DeviceError& error) {
        report.expect("too large an allocation is an error", true, error.what());
    }
    try {
        Launch launch;
        launch.block.x = 4096;
        launch.arguments.add(std::uint64_t{0});
        module.kernel("write_to").launch(launch);
        report.expect("too large a block is an error", false);
    } catch (const DeviceError& error) {
        report.expect("too large a block is an error", true, error.what());
    }
    Buffer still(device, Bytes(4));
    device.fill_u32(still.address(), 5, 1);
    report.expect("the device works on after such errors", still.read<std::uint32_t>(1)[0] == 5);
}

void clocks(Device& device, Report& report) {
    const auto state = device.clock_state();
    report.note(fmt::format("SM {}, memory {}, {}, {}, other processes {}", number(state.sm_mhz, "MHz"),
                            number(state.memory_mhz, "MHz"), number(state.temperature_celsius, "C"),
                            number(state.power_watt, "W"),
                            state.other_processes ? std::to_string(*state.other_processes) : "unknown"));
    report.expect("NVML tells the SM clock", state.sm_mhz.has_value() && *state.sm_mhz > 0);
}

}  // namespace

void Report::note(const std::string& text) const {
    fmt::print("     {}\n", text);
    std::fflush(stdout);
}

bool Report::expect(const std::string& what, bool passed, const std::string& found) {
    ++(passed ? passes_ : failures_);
    fmt::print("{} {}\n", passed ? "PASS" : "FAIL", what);
    if (!found.empty()) fmt::print("       {}\n", found);
    std::fflush(stdout);
    return passed;
}

void Report::run(const std::string& what, const std::function<void()>& body) {
    try {
        body();
    } catch (const std::exception& error) {
        expect(what, false, error.what());
    }
}

void check_device(Device& device, const std::string& dump, Report& report) {
    report.run("attributes", [&] { attributes(device, report); });
    report.run("copies", [&] { copies(device, report); });
    report.run("compile error", [&] { compile_error(device, report); });
    report.run("module", [&] {
        const auto module = device.load(kernels(device));
        report.run("arguments", [&] { arguments(device, *module, report); });
        report.run("symbols", [&] { symbols(device, *module, report); });
        report.run("dynamic shared memory", [&] {
            dynamic_shared(device, *module, 4_KiB, false, report);
            dynamic_shared(device, *module, 100_KiB, false, report);
            dynamic_shared(device, *module, 100_KiB, true, report);
            dynamic_shared(device, *module, 4_KiB, true, report);
        });
        report.run("textures", [&] { textures(device, *module, report); });
        report.run("aliases", [&] { aliases(device, *module, report); });
        report.run("machine code", [&] { machine_code(device, *module, dump, report); });
        report.run("limits", [&] { limits(device, *module, report); });
    });
    report.run("clocks", [&] { clocks(device, report); });
}

}  // namespace gputomo::gpu_smoke
