#include "measure/kernel/grouped_accesses.hpp"

#include <cstddef>

namespace gputomo::measure {

using ptx::Reg;

Reg append_false_predicate(ptx::KernelBuilder& k, Reg pointer) {
    const Reg never = k.reg(ptx::Type::pred);
    k("setp.eq.u64", never, pointer, 0);
    return never;
}

void append_joint_use(ptx::KernelBuilder& k, std::span<const Reg> results, Reg sum) {
    // Each result is first combined with the last one, so every use comes after the last access is issued.
    for (std::size_t i = 0; i + 1 < results.size(); ++i) k("add.u32", results[i], results[i], results.back());
    for (std::size_t apart = 1; apart < results.size(); apart *= 2)
        for (std::size_t i = 0; i + apart < results.size(); i += 2 * apart)
            k("xor.b32", results[i], results[i], results[i + apart]);
    if (!results.empty()) k("xor.b32", sum, sum, results.front());
}

}  // namespace gputomo::measure
