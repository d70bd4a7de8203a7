#include "costs/scattered_accesses.hpp"

namespace gputomo::costs {

ScatteredSpec scattered_spec_of(const machine::Machine& machine) {
    const auto& memory = machine.memory;
    return {.read = static_cast<double>(memory.scattered_read_bytes.value_or(0)),
            .write = static_cast<double>(memory.scattered_write_bytes.value_or(0))};
}

}  // namespace gputomo::costs
