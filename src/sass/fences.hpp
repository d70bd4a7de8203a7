// What a fence of machine code orders, and which instruction waits for its errors.
#pragma once

#include "sass/form.hpp"

#include <string_view>

namespace gputomo::sass {

/// Whom the accesses before a fence have to have reached.
enum class FenceScope : std::uint8_t {
    none,    ///< the instruction is no fence
    block,   ///< threads of its block
    gpu,     ///< threads of its GPU, or of its cluster
    system,  ///< other GPUs and the host too
};

/// The scope of MEMBAR. A scope that is not known counts as that of the GPU.
[[nodiscard]] inline FenceScope fence_scope_of(const Instruction& instruction) {
    if (instruction.form == nullptr || instruction.form->facts->what != Class::fence) return FenceScope::none;
    const std::string_view scope = text_of(Modifier::scope, instruction.value(Modifier::scope));
    if (scope == "CTA" || scope == "SM") return FenceScope::block;
    return scope == "SYS" ? FenceScope::system : FenceScope::gpu;
}

/// Whether it is ERRBAR, which follows MEMBAR in fences but those of the asynchronous proxy.
[[nodiscard]] inline bool waits_for_errors(const Instruction& instruction) {
    return instruction.form != nullptr && instruction.operation == Operation::ERRBAR;
}

/// Whether it shows asynchronous copies what its warp has stored to shared memory (FENCE.VIEW.ASYNC.S).
[[nodiscard]] inline bool shows_shared_stores(const Instruction& instruction) {
    return instruction.form != nullptr && instruction.operation == Operation::FENCE &&
           text_of(Modifier::async_view, instruction.value(Modifier::async_view)) == "S";
}

}  // namespace gputomo::sass
