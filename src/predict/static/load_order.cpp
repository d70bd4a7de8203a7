#include "predict/static/load_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::predict {
namespace {

bool is_load(const Instruction& instruction) {
    return instruction.kind == Kind::memory && instruction.access && instruction.access->load &&
           instruction.access->space == MemorySpace::global && !instruction.guarded;
}

bool shares(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    return std::ranges::any_of(a, [&](auto reg) { return std::ranges::find(b, reg) != b.end(); });
}

/// Whether the load may move ahead of `earlier`.
bool passes(const Instruction& load, const Instruction& earlier) {
    const bool plain = earlier.kind == Kind::arithmetic || earlier.kind == Kind::free;
    return plain && !shares(load.reads, earlier.writes) && !shares(load.writes, earlier.writes) &&
           !shares(load.writes, earlier.reads);
}

}  // namespace

void hoist_loads(Code& code) {
    auto& all = code.instructions;
    std::size_t first = 0;  // of the basic block
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (code.labels.contains(i)) first = i;
        if (is_load(all[i])) {
            std::size_t to = i;
            while (to > first && passes(all[i], all[to - 1])) --to;
            std::rotate(all.begin() + static_cast<std::ptrdiff_t>(to), all.begin() + static_cast<std::ptrdiff_t>(i),
                        all.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
        if (all[i].kind == Kind::branch || all[i].kind == Kind::exit) first = i + 1;
    }
}

}  // namespace gputomo::predict
