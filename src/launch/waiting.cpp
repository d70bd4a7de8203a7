#include "launch/waiting.hpp"

#include "sass/code.hpp"
#include "sass/cubin.hpp"
#include "sass/form.hpp"
#include "units/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gputomo::launch {
namespace {

/// Instructions of PTX that read what other threads store meanwhile (PTX ISA, section "Memory Consistency Model").
/// Loads with `.cg` read the L2, and the compiler makes them as strong as relaxed ones.
constexpr std::array<std::string_view, 8> kStrongPtx{"atom.",         "ld.volatile.",       "ld.acquire.",
                                                     "ld.relaxed.",   "ld.mmio.",           "ld.cg.",
                                                     "ld.global.cg.", "multimem.ld_reduce."};
constexpr std::array<std::string_view, 2> kStrongOrders{".STRONG", ".MMIO"};

bool reads_others_stores(const sass::Instruction& instruction) {
    const sass::Facts& facts = *instruction.form->facts;
    if (facts.what != sass::Class::memory) return false;
    if (facts.space != sass::MemorySpace::global && facts.space != sass::MemorySpace::generic) return false;
    if (facts.access == sass::Access::atomic) return true;
    if (facts.access != sass::Access::load) return false;
    const std::string name = sass::mnemonic_of(instruction);
    return std::ranges::any_of(kStrongOrders, [&](auto order) { return name.find(order) != std::string::npos; });
}

}  // namespace

bool may_wait_for_memory(const Launch& launch) {
    if (!sass::is_cubin(launch.code))
        return std::ranges::any_of(kStrongPtx,
                                   [&](std::string_view text) { return launch.code.find(text) != std::string::npos; });
    try {
        const sass::Cubin cubin(std::as_bytes(std::span(launch.code)));
        const auto text = cubin.text(launch.kernel);
        if (!cubin.sm()) return true;
        return std::ranges::any_of(sass::decode(text.bytes, *cubin.sm()), reads_others_stores);
    } catch (const InputError&) {
        return true;  // it has an instruction that the table lacks
    }
}

}  // namespace gputomo::launch
