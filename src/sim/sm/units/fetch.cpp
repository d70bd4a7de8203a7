#include "sim/sm/units/fetch.hpp"

#include <fmt/format.h>

namespace gputomo::sim {
namespace {

/// Requests the lines behind the one that the warp came to. Nothing waits for them.
void prefetch(FetchUnit& unit, Transaction transaction, std::uint64_t line, double now) {
    for (std::uint64_t ahead = 1; ahead <= unit.spec.prefetch_lines; ++ahead) {
        transaction.address = (line + ahead) * unit.spec.line_bytes;
        if (transaction.address >= unit.code_end) return;
        (void)unit.memory.access(transaction, now);
    }
}

}  // namespace

std::uint64_t instruction_bytes_of(const machine::Machine& machine) {
    constexpr std::int64_t kBeforeVolta = 8;
    return static_cast<std::uint64_t>(machine.instruction_supply.instruction_bytes.value_or(kBeforeVolta));
}

FetchSpec fetch_spec_of(const machine::Machine& machine) {
    FetchSpec spec;
    spec.instruction_bytes = instruction_bytes_of(machine);
    const auto path = machine.paths.find("instruction");
    if (path == machine.paths.end()) return spec;
    const auto caches = path->second.caches.value_or({});
    if (caches.empty()) return spec;
    const machine::Cache& first = machine.caches.at(caches.front());
    spec.fetches = true;
    spec.line_bytes = static_cast<std::uint64_t>(*first.line);
    spec.block_bytes = static_cast<std::uint64_t>(machine.instruction_supply.fetch_block.value_or(*first.line));
    spec.prefetch_lines = static_cast<std::uint64_t>(machine.instruction_supply.prefetch_lines.value_or(0));
    spec.hidden_latency = static_cast<double>(first.latency.value_or(0));
    return spec;
}

double fetch_block(FetchUnit& unit, InstructionBuffer& buffer, const FetchRequest& request, double now) {
    const FetchSpec& spec = unit.spec;
    const std::uint64_t line = request.address / spec.line_bytes;
    const bool new_line = buffer.is_empty() || buffer.begin / spec.line_bytes != line;
    buffer.begin = request.address / spec.block_bytes * spec.block_bytes;
    buffer.end = buffer.begin + spec.block_bytes;
    const Transaction transaction{.address = buffer.begin,
                                  .bytes = static_cast<std::uint32_t>(spec.block_bytes),
                                  .sm = request.sm,
                                  .path = PathKind::instruction,
                                  .scheduler = request.scheduler};
    const double late = unit.memory.access(transaction, now) - now - spec.hidden_latency;
    if (new_line) prefetch(unit, transaction, line, now);
    return late > 0 ? now + late : now;
}

std::string describe(const FetchSpec& spec, const InstructionBuffer& buffer) {
    if (!spec.fetches) return "fetch: instructions are always there";
    if (buffer.is_empty()) return "fetch: instruction buffer empty";
    return fmt::format("fetch: instruction buffer holds {} bytes from 0x{:x}", spec.block_bytes, buffer.begin);
}

}  // namespace gputomo::sim
