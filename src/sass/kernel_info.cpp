#include "sass/kernel_info.hpp"

#include "sass/cubin_format.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace gputomo::sass {
namespace {

template <class Visit>
void for_attributes(std::span<const std::byte> info, Visit&& visit) {
    for (std::size_t at = 0; at + 4 <= info.size();) {
        const auto format = static_cast<std::uint8_t>(info[at]), attribute = static_cast<std::uint8_t>(info[at + 1]);
        std::uint16_t size = 0;
        std::memcpy(&size, info.data() + at + 2, sizeof size);
        at += 4;
        if (format != kSizedValue) continue;
        if (size > info.size() - at) return;
        visit(attribute, info.subspan(at, size));
        at += size;
    }
}

std::uint32_t word_of(std::span<const std::byte> value, std::size_t offset) {
    std::uint32_t word = 0;
    std::memcpy(&word, value.data() + offset, sizeof word);
    return word;
}

void read_kernel(std::span<const std::byte> section, KernelInfo& info) {
    for_attributes(section, [&](std::uint8_t attribute, std::span<const std::byte> value) {
        if (attribute == kParamCbank && value.size() >= 8) {
            info.parameter_offset = word_of(value, 4) & 0xFFFF;
            info.parameter_bytes = word_of(value, 4) >> 16;
        } else if (attribute == kKparamInfo && value.size() >= 12) {
            const std::size_t ordinal = word_of(value, 4) & 0xFFFF;
            if (ordinal >= info.parameters.size()) info.parameters.resize(ordinal + 1);
            info.parameters[ordinal] = {.offset = word_of(value, 4) >> 16,
                                        .bytes = word_of(value, 8) >> kParameterSizeBit};
        } else if (attribute == kCtaPerCluster && value.size() >= 12) {
            info.cluster = {word_of(value, 0), word_of(value, 4), word_of(value, 8)};
        } else if (attribute == kReqntid && value.size() >= 12) {
            info.block = {word_of(value, 0), word_of(value, 4), word_of(value, 8)};
        } else if (attribute == kMaxThreads && value.size() >= 12) {
            info.max_threads = static_cast<int>(word_of(value, 0) * word_of(value, 4) * word_of(value, 8));
        }
    });
}

}  // namespace

bool is_kernel(const Cubin& cubin, std::string_view function) {
    return cubin.section(fmt::format(".nv.info.{}", function)) != nullptr &&
           cubin.section(fmt::format(".nv.constant0.{}", function)) != nullptr;
}

KernelInfo kernel_info(const Cubin& cubin, std::string_view kernel) {
    const auto* const section = cubin.section(fmt::format(".nv.info.{}", kernel));
    if (section == nullptr)
        throw InputError(fmt::format("cubin: '{}' has no section .nv.info.{}; expected a kernel", kernel, kernel));
    KernelInfo info;
    read_kernel(section->bytes, info);
    const auto* const all = cubin.section(".nv.info");
    if (all == nullptr) return info;
    const auto symbols = cubin.symbols();
    for_attributes(all->bytes, [&](std::uint8_t attribute, std::span<const std::byte> value) {
        if (value.size() < 8) return;
        const std::size_t symbol = word_of(value, 0);
        if (attribute == kMinStackSize) info.stack_bytes = std::max<std::uint64_t>(info.stack_bytes, word_of(value, 4));
        if (attribute == kRegcount && symbol < symbols.size() && symbols[symbol].name == kernel)
            info.registers = static_cast<int>(word_of(value, 4));
    });
    return info;
}

}  // namespace gputomo::sass
