// Virtual to physical addresses: TLBs, page windows and the page table.
#include "sim/memory/model.hpp"

namespace gputomo::sim {
namespace {

/// Where page tables lie: beyond all memory, so that their lines are never data.
constexpr std::uint64_t kPageTable = std::uint64_t{1} << 46;
/// Bytes of a page table entry.
constexpr std::uint64_t kPageTableEntry = 8;
/// Levels of TLBs of a path whose entries later accesses wait for; no GPU so far has more.
constexpr std::size_t kMostTlbs = 8;

}  // namespace

void MemoryModel::read_page_table(TransactionState& state, const TlbLevel& tlb, Time now) {
    if (state.path.page_walk_penalty == 0) return;
    CacheLevel& level = *state.path.caches.back();
    TagArray& tags =
        level.instances[placement_.instance(level.scope, state.transaction.sm, state.transaction.scheduler)];
    const std::uint64_t entry =
        kPageTable + state.transaction.address / tlb.instances.front().block_bytes() * kPageTableEntry;
    const auto found = tags.lookup(entry, tags.sectors_of(entry, kPageTableEntry), true);
    if (found.evicted_dirty != 0) (void)write_back(found, tags, now);
    if (found.missing != 0) state.penalty += state.path.page_walk_penalty;
}

void MemoryModel::translate(TransactionState& state, Time now) {
    if (state.translated) return;
    state.translated = true;
    const Transaction& t = state.transaction;
    std::array<TagArray::Line*, kMostTlbs> missed{};
    std::size_t misses = 0;
    for (TlbLevel* tlb : state.path.tlbs) {
        const auto found =
            tlb->instances[placement_.instance(tlb->scope, t.sm, t.scheduler)].lookup(t.address, 1, true);
        if (found.missing == 0) {
            ++tlb->hits;
            // The entry is there once the access that missed has brought it.
            state.penalty = std::max(state.penalty, found.line->ready - now);
            break;
        }
        ++tlb->misses;
        state.penalty += tlb->penalty;
        if (misses < missed.size()) missed[misses++] = found.line;
        if (tlb == state.path.tlbs.back()) read_page_table(state, *tlb, now);
    }
    for (std::size_t i = 0; i < misses; ++i) missed[i]->ready = now + state.penalty;
    if (state.path.window == 0) return;
    const std::uint64_t window = t.address / state.path.window;
    if (window == state.path.active_window) return;
    // The first access opens a window; it does not switch from another one.
    if (state.path.active_window != ~std::uint64_t{0}) state.penalty += state.path.window_penalty;
    state.path.active_window = window;
}

std::uint64_t MemoryModel::physical(TransactionState& state, std::uint64_t virtual_address) const {
    if (!state.located)
        state.physical_offset = addresses_.translate(state.transaction.address) - state.transaction.address;
    state.located = true;
    return virtual_address + state.physical_offset;
}

}  // namespace gputomo::sim
