// Stores, atomics, and what is written back to DRAM.
#include "sim/memory/model.hpp"

#include <bit>

namespace gputomo::sim {
namespace {

/// Cycles between two atomics on one address where the description knows no units for atomics. A larger number would
/// make contended atomics slower in proportion.
constexpr double kAtomicInterval = 1;
/// Bytes of which two atomics count as on the same address there.
constexpr std::uint64_t kAtomicBytes = 4;
/// Queues behind the SM's port hold this many cycles of stores before they delay the SM. No measurement says how
/// many. A smaller number makes short bursts of stores wait.
constexpr double kStoreQueueCycles = 64;

/// The sectors of a store, as bits of the line that it begins in.
std::uint32_t sectors_of_line(const Transaction& transaction) {
    constexpr std::uint64_t kSectors = costs::kStoredLine / costs::kStoredSector;
    const std::uint64_t first = transaction.address / costs::kStoredSector % kSectors;
    return static_cast<std::uint32_t>(transaction.pieces << first & ((1U << kSectors) - 1));
}

costs::LineBytes written_by(const Transaction& store) {
    return store.partial ? store.written : costs::LineBytes::of_sectors(sectors_of_line(store));
}

/// The sectors of a cache in which these sectors of a line lie. Both may differ in size.
TagArray::Sectors sectors_in(const TagArray& tags, std::uint64_t line, std::uint32_t of_line) {
    TagArray::Sectors sectors = 0;
    for (std::uint64_t sector = 0; of_line >> sector != 0; ++sector)
        if ((of_line >> sector & 1) != 0)
            sectors |= tags.sectors_of(line + sector * costs::kStoredSector, costs::kStoredSector);
    return sectors;
}

/// Sectors of the line that the cache keeps in one sector with others that memory fills up, and writes back with them.
std::uint32_t written_beside(const TagArray& tags, const costs::FilledLine& filled) {
    const TagArray::Sectors all = sectors_in(tags, filled.address(), filled.sectors);
    std::uint32_t beside = 0;
    for (std::uint32_t sector = 1; sector <= filled.whole; sector <<= 1)
        if ((filled.whole & sector) != 0 && (sectors_in(tags, filled.address(), sector) & all) != 0) beside |= sector;
    return beside;
}

}  // namespace

double MemoryModel::write_to_dram(std::uint64_t physical, std::uint64_t bytes, Time now) {
    dram_bytes_ += bytes;
    return dram_.write(physical, static_cast<std::uint32_t>(bytes), now);
}

double MemoryModel::write_back(const TagArray::Found& found, const TagArray& tags, Time now) {
    // Memory fills up what stores have written in part.
    const costs::FilledLine filled = partial_lines_.take(found.evicted / costs::kStoredLine);
    const double waited = fill(filled, tags, now);
    const TagArray::Sectors left = found.evicted_dirty & ~sectors_in(tags, filled.address(), filled.sectors);
    if (left == 0) return waited;
    return std::max(waited,
                    write_to_dram(found.evicted, std::uint64_t(std::popcount(left)) << tags.sector_shift(), now));
}

bool MemoryModel::write_to_cache(CacheLevel& level, bool allocates, std::size_t instance, std::uint64_t address,
                                 std::uint64_t bytes, double& waited, Time now) {
    TagArray& tags = level.instances[instance];
    bool kept = true;
    for (const std::uint64_t end = address + bytes; address < end;) {
        const std::uint64_t part = within_block(address, end - address, tags.block_bytes());
        if (!level.ports.empty())
            waited = std::max(
                waited, level.ports[instance].reserve(now, static_cast<double>(part) * level.cycles_per_byte) - now);
        const auto sectors = tags.sectors_of(address, part);
        const auto found = tags.lookup(address, sectors, allocates);
        ++(found.missing == 0 ? level.hits : level.misses);
        if (found.evicted_dirty != 0) waited = std::max(waited, write_back(found, tags, now));
        if (level.stores_block_fills) waited = std::max(waited, wait_for_part(level, found.line, address, now));
        const bool there = found.line != nullptr && (found.line->valid & sectors) == sectors;
        if (there && level.write_back) found.line->dirty |= sectors;
        kept = kept && there && level.write_back;
        address += part;
    }
    return kept;
}

double MemoryModel::wait_for_part(const CacheLevel& level, const TagArray::Line* line, std::uint64_t physical,
                                  Time now) {
    Time& until = blocked_[atomic_costs_->unit_of(physical)];
    const Time start = std::max(until, now);
    // The line is there before its data are back in the SM.
    const Time there = line != nullptr && line->pending != 0 ? line->ready - level.latency.front() : start;
    // A store that blocks nothing leaves the part alone: it may be booked later than loads that are still to come.
    if (there > start) {
        filling_cycles_ += there - start;
        until = there;
    }
    return std::max(start, there) - now;
}

Time MemoryModel::store(TransactionState& state, const Range& range, Time now) {
    const Transaction& t = state.transaction;
    stored_ += t.path == PathKind::local ? 0 : 1;
    partly_stored_ += t.partial && t.path != PathKind::local ? 1 : 0;
    translate(state, now);
    const std::uint64_t at = physical(state, range.virtual_address);
    double waited = 0;
    bool kept = false;
    std::size_t depth = first_cache(state);
    for (; depth < state.path.near; ++depth) {
        CacheLevel& level = *state.path.caches[depth];
        double port = 0;  // not waited for: the SM is rid of a store before the cache takes it
        // A cache keeps a sector that was written in part, too, but has to fetch it for those who read another part. In
        // local memory each thread reads what it has written itself.
        const bool whole = !t.partial || t.path == PathKind::local;
        (void)write_to_cache(level, level.allocates_stores && whole,
                             placement_.instance(level.scope, t.sm, t.scheduler), range.virtual_address, range.bytes,
                             port, now);
    }
    const std::uint64_t line = at / costs::kStoredLine;
    const bool tracked = t.path != PathKind::local && t.touched != 0;
    std::uint32_t alone = 0;  // sectors that join no store that waits
    bool joins = false;
    std::uint64_t touched = t.touched == 0 ? range.bytes : t.touched;
    if (tracked && !store_queues_.empty()) {
        joins = store_queues_[t.sm].has(line, now);
        const std::uint32_t left = leaving_sectors(t, line, now);
        if (left == 0) return now;
        touched =
            std::min<std::uint64_t>(touched, static_cast<std::uint64_t>(std::popcount(left)) * costs::kStoredSector);
        alone = left;
    }
    now = leave(t.sm, touched, now);
    if (store_cycles_per_byte_ > 0 && depth < state.path.caches.size()) {
        const costs::StoredPart part{.bytes = static_cast<double>(touched), .partial = t.partial, .joins = joins};
        waited =
            stores_.reserve(now, costs::stored_bytes(partial_stores_, partial_cost_, part) * store_cycles_per_byte_) -
            now;
    }
    if (fabric_cycles_per_byte_ > 0)
        waited = std::max(waited, fabric_.reserve(now, static_cast<double>(touched) * fabric_cycles_per_byte_) - now);
    const bool partial =
        tracked && partial_stores_.kept_lines > 0 && depth < state.path.caches.size() &&
        (partial_lines_.knows(line) || (t.partial && !is_resident(*state.path.caches[depth], at, range.bytes)));
    for (; depth < state.path.caches.size() && !kept; ++depth)
        kept = write_to_cache(*state.path.caches[depth], state.path.caches[depth]->allocates_stores, 0, at, range.bytes,
                              waited, now);
    if (!kept) waited = std::max(waited, write_to_dram(at, range.bytes, now));
    if (partial) waited = std::max(waited, fill_partial(t, state.path.caches.back()->instances.front(), line, now));
    if (alone != 0) store_queues_[t.sm].add(line, alone, now + waited);
    return now + std::max(0.0, waited - kStoreQueueCycles);
}

/// Whether the cache of all SMs has the bytes, so that a store to a part of a sector leaves nothing open. It makes them
/// dirty, as the store does.
bool MemoryModel::is_resident(CacheLevel& level, std::uint64_t physical, std::uint64_t bytes) {
    TagArray& tags = level.instances.front();
    return tags.mark_dirty(physical, tags.sectors_of(physical, within_block(physical, bytes, tags.block_bytes())));
}

std::uint32_t MemoryModel::leaving_sectors(const Transaction& transaction, std::uint64_t line, Time now) {
    const std::uint32_t sectors = sectors_of_line(transaction);
    const std::uint32_t left = store_queues_[transaction.sm].left(line, sectors, now);
    // What joins a waiting store may complete its sectors.
    if (left != sectors) partial_lines_.join(line, sectors & ~left, written_by(transaction));
    return left;
}

double MemoryModel::fill_partial(const Transaction& transaction, TagArray& tags, std::uint64_t line, Time now) {
    const costs::FilledLine filled = partial_lines_.store(line, sectors_of_line(transaction), written_by(transaction));
    const double waited = fill(filled, tags, now);
    if (filled.sectors != 0) tags.mark_clean(filled.address(), sectors_in(tags, filled.address(), filled.sectors));
    return waited;
}

double MemoryModel::fill(const costs::FilledLine& filled, const TagArray& tags, Time now) {
    if (filled.sectors == 0) return 0;
    const auto beside = static_cast<std::uint32_t>(std::popcount(written_beside(tags, filled)) * costs::kStoredSector);
    const std::uint32_t read = filled.bytes(), written = read + beside;
    dram_bytes_ += read + written;
    const double waited = dram_.read(filled.address(), read, now).delay;
    return std::max(waited, dram_.write(filled.address(), written, now));
}

Time MemoryModel::leave(std::uint32_t sm, std::uint64_t bytes, Time now) {
    return ports_out_.empty() ? now : ports_out_[sm].reserve(now, static_cast<double>(bytes) * out_cycles_per_byte_);
}

MemoryModel::AtUnit MemoryModel::at_unit(const Transaction& transaction, std::uint64_t physical, std::uint64_t bytes,
                                         Time now) {
    constexpr std::uint64_t kSector = costs::AtomicUnits::kSectorBytes, kBlock = 64 * kSector;
    const std::uint64_t touched = transaction.touched == 0 ? bytes : transaction.touched;
    const costs::AtomicRequest request{.kind = transaction.atomic_class,
                                       .sectors = static_cast<std::uint32_t>((touched + kSector - 1) / kSector),
                                       .partial = transaction.partial,
                                       .lone = transaction.lone};
    AtomicUnit& unit = units_[atomic_costs_->unit_of(physical)];
    const std::uint64_t block = physical / kBlock, sectors = transaction.pieces << (physical % kBlock / kSector);
    const bool meets = block == unit.block && (sectors & unit.sectors) != 0;
    met_atomics_ += meets ? 1 : 0;
    unit.block = block;
    unit.sectors = sectors;
    const double cycles = meets ? atomic_costs_->together(request) : atomic_costs_->apart(request);
    const Time start = unit.server.reserve(now, cycles);
    return {.start = start, .end = start + cycles};
}

/// The SM's own caches no longer serve the lines that an atomic or a strong load of this SM asks for. Those of other
/// SMs do not know of it.
void MemoryModel::drop_near(const TransactionState& state, Range range) {
    const Transaction& t = state.transaction;
    for (std::size_t depth = 0; depth < state.path.near; ++depth) {
        CacheLevel& level = *state.path.caches[depth];
        TagArray& tags = level.instances[placement_.instance(level.scope, t.sm, t.scheduler)];
        for (Range left = range; left.bytes != 0;) {
            const std::uint64_t part = within_block(left.virtual_address, left.bytes, tags.block_bytes());
            tags.drop(left.virtual_address);
            left.virtual_address += part;
            left.bytes -= part;
        }
    }
}

Time MemoryModel::leave_with_atomic(TransactionState& state, const Range& range, Time now) {
    const Transaction& t = state.transaction;
    ++atomic_transactions_;
    drop_near(state, range);
    if (atomic_cycles_per_byte_ == 0) return now;
    const std::uint64_t touched = t.touched == 0 || !atomic_costs_ ? range.bytes : t.touched;
    const std::uint64_t asked = t.asked == 0 || !atomic_costs_ ? range.bytes : t.asked;
    now = leave(t.sm, touched, now);
    return atomic_units_.reserve(now, static_cast<double>(asked) * atomic_cycles_per_byte_);
}

bool MemoryModel::is_far_atomic(const TransactionState& state, std::uint64_t physical) const {
    if (far_atomic_ == 0) return false;
    const CacheLevel& last = *state.path.caches.back();
    return is_far(last.partitions, state.transaction.sm, physical);
}

Time MemoryModel::answer(TransactionState& state, const Range& range, Time now) {
    const std::uint64_t at = physical(state, range.virtual_address);
    const Time done = load(state, range, now) + (is_far_atomic(state, at) ? far_atomic_ : 0);
    // The result is written afterwards; the thread does not wait for that.
    const std::size_t far = first_cache(state);
    if (far < state.path.caches.size() && state.path.caches[far]->write_back) {
        TagArray& tags = state.path.caches[far]->instances.front();
        if (tags.mark_dirty(at, tags.sectors_of(at, within_block(at, range.bytes, tags.block_bytes())))) return done;
    }
    (void)write_to_dram(at, range.bytes, now);
    return done;
}

Time MemoryModel::atomic(TransactionState& state, const Range& range, Time now) {
    const std::uint64_t at = physical(state, range.virtual_address);
    now = leave_with_atomic(state, range, now);
    if (atomic_costs_) return answer(state, range, at_unit(state.transaction, at, range.bytes, now).start);
    Time done = answer(state, range, now);
    auto& [address, last] = atomics_[(at / kAtomicBytes) % atomics_.size()];
    if (address == at) {
        done = std::max(done, last + kAtomicInterval);
        ++met_atomics_;
    }
    address = at;
    last = done;
    return done;
}

// ---- atomics that wait for their turn -----------------------------------------------------------------------------

MemorySystem::AtomicPlace MemoryModel::place_of(const Transaction& atomic) const {
    return {.unit = atomic_costs_->unit_of(addresses_.translate(atomic.address)),
            .queue = queue_scope_ == Scope::gpu ? 0 : placement_.instance(queue_scope_, atomic.sm, 0)};
}

/// Half of the way there and back lies before the unit.
Time MemoryModel::send(const Transaction& atomic, Time now) {
    ++transactions_;
    TransactionState state{atomic, path_of(atomic)};
    const Time left = leave_with_atomic(state, {atomic.address, 0, atomic.bytes}, base_ + now) - base_;
    return left + (is_far_atomic(state, physical(state, atomic.address)) ? far_atomic_ / 2 : 0);
}

MemorySystem::Served MemoryModel::serve(const Transaction& atomic, Time now) {
    ++own_requests_;
    reached_dram_ = false;
    TransactionState state{atomic, path_of(atomic)};
    const Range range{atomic.address, 0, atomic.bytes};
    const std::uint64_t at = physical(state, atomic.address);
    const AtUnit served = at_unit(atomic, at, atomic.bytes, base_ + now);
    Time done = answer(state, range, served.start) - (is_far_atomic(state, at) ? far_atomic_ / 2 : 0);
    if (!noise_.silent()) done = std::max(served.start, done + noise_.draw());
    latest_ = std::max(latest_, done);
    return {.done = done - base_, .free = served.end - base_};
}

}  // namespace gputomo::sim
