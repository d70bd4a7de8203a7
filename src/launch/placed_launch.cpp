#include "launch/placed_launch.hpp"

#include "launch/module_variables.hpp"
#include "launch/prune.hpp"
#include "sass/cubin.hpp"
#include "sass/kernel_info.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

namespace gputomo::launch {
namespace {

/// Names the file of the code, where it has one, in what is wrong with it.
std::unique_ptr<device::Module> load(device::Device& gpu, const std::string& code, const std::string& origin) {
    try {
        return gpu.load(code);
    } catch (const InputError& e) {
        if (origin.empty()) throw;
        throw InputError(fmt::format("{}: {}", origin, e.what()));
    }
}

Bytes size_of(std::uint64_t bytes) { return Bytes(static_cast<std::int64_t>(bytes)); }

}  // namespace

PlacedLaunch::PlacedLaunch(device::Device& gpu, const Launch& launch)
    : gpu_(gpu), buffers_(launch.buffers), code_(launch.code), is_cubin_(sass::is_cubin(code_)) {
    // Other kernels of the module may need what is not simulated. A driver takes the whole file only.
    if (gpu_.simulated()) {
        if (!is_cubin_) refuse_clusters(launch);
        if (is_cubin_) code_ = pruned(code_, launch.kernel);
    }
    addresses_.resize(launch.buffers.size());
    try {
        place_all(launch);
    } catch (...) {
        give_back();
        throw;
    }
}

PlacedLaunch::~PlacedLaunch() { give_back(); }

void PlacedLaunch::place_all(const Launch& launch) {
    // Memory with an address of its own comes before the module, which takes what is free.
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        if (buffers_[i].address && buffers_[i].variable.empty()) place(i);
    for (const Buffer& buffer : buffers_)
        if (!buffer.variable.empty()) fill_constants(buffer);
    module_ = load(gpu_, code_, launch.origin);
    kernel_ = &module_->kernel(launch.kernel);
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const Buffer& buffer = buffers_[i];
        sizes_.push_back(buffer.bytes);
        if (!buffer.variable.empty()) {
            addresses_[i] = buffer.address.value_or(0);
            if (const auto address = variable_address(buffer)) note_move(buffer, *address);
        } else if (!buffer.address) {
            allocated_.push_back(addresses_[i] = gpu_.allocate(size_of(buffer.bytes)));
        }
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        if (const auto address = place_of(i)) fill(buffers_[i], *address);
    launch_.grid = launch.grid;
    launch_.block = launch.block;
    launch_.dynamic_shared = size_of(launch.dynamic_shared);
    launch_.cluster = launch.cluster;
    launch_.cooperative = launch.cooperative;
    set_arguments(launch);
}

void PlacedLaunch::place(std::size_t index) {
    const Buffer& buffer = buffers_[index];
    if (buffer.is_array && !gpu_.simulated()) return;
    addresses_[index] = gpu_.allocate_at(*buffer.address, size_of(buffer.bytes), buffer.space);
    allocated_.push_back(addresses_[index]);
    note_move(buffer, addresses_[index]);
}

void PlacedLaunch::note_move(const Buffer& buffer, device::Address to) {
    if (!buffer.address || *buffer.address == to) return;
    moves_[*buffer.address] = {buffer.bytes, to};
    ++moved_.buffers;
}

std::uint64_t PlacedLaunch::move_pointers(std::span<std::byte> bytes) const {
    if (moves_.empty()) return 0;
    const device::Address first = moves_.begin()->first;
    const device::Address end = moves_.rbegin()->first + moves_.rbegin()->second.bytes;
    std::uint64_t changed = 0;
    for (std::size_t at = 0; at + sizeof(device::Address) <= bytes.size(); at += sizeof(device::Address)) {
        device::Address value = 0;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        if (value < first || value >= end) continue;
        const auto& [base, move] = *std::prev(moves_.upper_bound(value));
        if (value - base >= move.bytes) continue;
        value = move.to + (value - base);
        std::memcpy(bytes.data() + at, &value, sizeof value);
        ++changed;
    }
    return changed;
}

void PlacedLaunch::read(const Buffer& buffer, std::span<std::byte> to) const {
    if (!buffer.fill) return;
    buffer.fill(to);
    (void)move_pointers(to);
}

void PlacedLaunch::give_back() noexcept {
    kernel_ = nullptr;
    module_.reset();
    for (const auto address : allocated_) gpu_.free(address);
    allocated_.clear();
}

void PlacedLaunch::restore() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        std::vector<std::byte> content(buffers_[i].bytes);
        read(buffers_[i], content);
        write(i, 0, content);
    }
}

void PlacedLaunch::write(std::size_t index, std::uint64_t offset, std::span<const std::byte> bytes) {
    // A kernel writes no constants, and variables of another module have no place here.
    if (const auto address = place_of(index)) gpu_.copy_to_device(*address + offset, bytes);
}

void PlacedLaunch::fill(const Buffer& buffer, device::Address to) {
    if (!buffer.fill) return;
    std::vector<std::byte> content(buffer.bytes);
    buffer.fill(content);
    moved_.pointers += move_pointers(content);
    gpu_.copy_to_device(to, content);
}

/// Puts the constants of the launch into the code, from where a kernel reads them.
void PlacedLaunch::fill_constants(const Buffer& buffer) {
    if (!is_cubin_) return;
    const sass::Cubin cubin(std::as_bytes(std::span(code_)));
    const auto symbol = symbol_of(cubin, buffer.variable);
    if (!buffer.fill || !symbol || !constant_bank(symbol->section)) return;
    const auto& section = *cubin.section(symbol->section);
    if (symbol->value + buffer.bytes > section.bytes.size())
        throw InputError(fmt::format("{} lies at {:#x} of {}; expected a place within its {} bytes", buffer.name,
                                     symbol->value, section.name, section.bytes.size()));
    const std::uint64_t begin = section.offset + symbol->value;
    const auto place = std::as_writable_bytes(std::span(code_)).subspan(begin, buffer.bytes);
    buffer.fill(place);
    moved_.pointers += move_pointers(place);
}

std::optional<device::Address> PlacedLaunch::variable_address(const Buffer& buffer) const {
    if (buffer.variable.empty()) return buffer.address;
    if (!is_cubin_) {
        try {
            return module_->symbol(buffer.variable).address;
        } catch (const InputError&) {
            return std::nullopt;  // of another module
        }
    }
    const auto symbol = symbol_of(sass::Cubin(std::as_bytes(std::span(code_))), buffer.variable);
    if (!symbol || constant_bank(symbol->section)) return std::nullopt;
    return module_->symbol(buffer.variable).address;
}

void PlacedLaunch::set_arguments(const Launch& recorded) {
    Launch launch = recorded;
    for (Argument& argument : launch.arguments)
        if (!argument.buffer) moved_.pointers += move_pointers(argument.bytes);
    if (!is_cubin_) {
        for (const Argument& argument : launch.arguments)
            launch_.arguments.add_at(argument.offset, value_of(argument, addresses_));
        return;
    }
    const auto info = sass::kernel_info(sass::Cubin(std::as_bytes(std::span(code_))), launch.kernel);
    const auto space = parameter_space(launch, addresses_, info.parameter_bytes);
    for (const auto& parameter : info.parameters)
        launch_.arguments.add_at(parameter.offset, std::span(space).subspan(parameter.offset, parameter.bytes));
}

device::LaunchResult PlacedLaunch::run(std::chrono::milliseconds time_limit) {
    launch_.time_limit = time_limit;
    return kernel_->launch(launch_);
}

std::optional<device::Address> PlacedLaunch::place_of(std::size_t index) const {
    const Buffer& buffer = buffers_[index];
    if (buffer.is_array && !gpu_.simulated()) return std::nullopt;
    return buffer.variable.empty() ? std::optional(addresses_[index]) : variable_address(buffer);
}

std::vector<std::byte> PlacedLaunch::content(std::size_t index) const {
    std::vector<std::byte> bytes(sizes_.at(index));
    if (const auto address = place_of(index)) gpu_.copy_to_host(bytes, *address);
    return bytes;
}

std::optional<device::Address> PlacedLaunch::place_of_recorded(const Buffer& buffer) const {
    const device::Address address = buffer.address.value_or(0);
    const auto after = moves_.upper_bound(address);
    if (after == moves_.begin()) return buffer.address;
    const auto& [base, move] = *std::prev(after);
    return address - base < move.bytes ? move.to + (address - base) : address;
}

std::vector<Difference> PlacedLaunch::compare(const std::vector<Buffer>& results, const Tolerance& tolerance) const {
    std::vector<Difference> all;
    for (const Buffer& buffer : results) {
        const auto address = buffer.variable.empty() ? place_of_recorded(buffer) : variable_address(buffer);
        if (!address) continue;
        std::vector<std::byte> made(buffer.bytes);
        gpu_.copy_to_host(made, *address);
        Buffer expected = buffer;
        expected.fill = [&](std::span<std::byte> to) { read(buffer, to); };
        if (auto found = difference(expected, made, tolerance)) all.push_back(std::move(*found));
    }
    return all;
}

}  // namespace gputomo::launch
