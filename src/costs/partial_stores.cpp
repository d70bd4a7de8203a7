#include "costs/partial_stores.hpp"

#include "machine/cache_scope.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::costs {
namespace {

constexpr std::uint32_t kSectorsOfLine = kStoredLine / kStoredSector;
constexpr std::uint64_t kHalfLine = kStoredLine / 2;

/// `count` bits from `first` on, of 64; none where they begin behind these.
std::uint64_t bits_of(std::uint64_t first, std::uint64_t count) {
    if (count == 0 || first >= kHalfLine) return 0;
    return ~std::uint64_t{0} >> (kHalfLine - std::min(count, kHalfLine)) << first;
}

}  // namespace

LineBytes::LineBytes(std::uint64_t first, std::uint64_t count) {
    first %= kStoredLine;
    const std::uint64_t end = first + std::min(count, kStoredLine);
    bits_[0] = bits_of(first, end - first);
    bits_[1] = first >= kHalfLine ? bits_of(first - kHalfLine, end - first)
                                  : bits_of(0, end > kHalfLine ? end - kHalfLine : 0);
    if (end > kStoredLine) bits_[0] |= bits_of(0, end - kStoredLine);
}

LineBytes LineBytes::of_sectors(std::uint32_t sectors) {
    LineBytes bytes;
    for (std::uint64_t sector = 0; sector < kSectorsOfLine; ++sector)
        if ((sectors >> sector & 1) != 0) bytes.add({sector * kStoredSector, kStoredSector});
    return bytes;
}

std::uint32_t LineBytes::whole_sectors() const {
    std::uint32_t whole = 0;
    for (std::uint32_t sector = 0; sector < kSectorsOfLine; ++sector) {
        const std::uint64_t bits = bits_[sector / 2] >> (sector % 2 * kStoredSector);
        if (static_cast<std::uint32_t>(bits) == ~std::uint32_t{0}) whole |= 1U << sector;
    }
    return whole;
}

PartialStores partial_stores_of(const machine::Machine& machine) {
    PartialStores spec;
    if (const auto stores = machine.accesses.find("l2_store"); stores != machine.accesses.end()) {
        spec.merged_lines = static_cast<std::size_t>(stores->second.merged_lines.value_or(0));
        spec.request = static_cast<double>(stores->second.request_bytes.value_or(0));
    }
    if (const auto* const cache = machine::shared_cache(machine, "global"); cache != nullptr)
        spec.kept_lines = static_cast<double>(cache->partial_capacity.value_or(0)) / kStoredLine;
    spec.scattered = scattered_spec_of(machine);
    return spec;
}

double stored_bytes(const PartialStores& spec, double cost, const StoredPart& part) {
    constexpr auto kLine = static_cast<double>(kStoredLine);
    const double whole = spec.request + kLine, own = part.bytes + (part.joins ? 0 : spec.request);
    if (!part.partial) return own * kLine / whole;
    return (spec.kept_lines > 0 ? own + (cost - 1) * whole : own * cost) * kLine / whole;
}

std::uint32_t StoreQueue::left(std::uint64_t line, std::uint32_t sectors, double now) {
    if (last_ <= now) return sectors;
    for (Waiting& other : waiting_) {
        if (other.line != line || other.leaves <= now) continue;
        const std::uint32_t both = sectors & other.sectors;
        sectors &= ~both;
    }
    return sectors;
}

bool StoreQueue::has(std::uint64_t line, double now) const {
    return last_ > now && std::ranges::any_of(
                              waiting_, [&](const Waiting& other) { return other.line == line && other.leaves > now; });
}

void StoreQueue::add(std::uint64_t line, std::uint32_t sectors, double leaves) {
    if (waiting_.empty()) return;
    waiting_[next_] = {line, sectors, leaves};
    next_ = (next_ + 1) % waiting_.size();
    last_ = std::max(last_, leaves);
}

bool PartialLines::add(Known known, std::uint32_t sectors, const LineBytes& bytes) {
    Partial& partial = known->second;
    order_.erase(partial.place);
    partial.sectors |= sectors;
    partial.bytes.add(bytes);
    if ((partial.sectors & ~partial.bytes.whole_sectors()) == 0) {
        partial_.erase(known);
        return true;
    }
    put_last(known);
    return false;
}

void PartialLines::put_last(Known known) {
    known->second.place = next_place_++;
    order_.emplace_hint(order_.end(), known->second.place, known->first);
}

FilledLine PartialLines::store(std::uint64_t line, std::uint32_t sectors, const LineBytes& bytes) {
    const auto [known, first] = partial_.try_emplace(line);
    if (first) put_last(known);
    known->second.stored += static_cast<std::uint32_t>(std::popcount(sectors));
    if (add(known, sectors, bytes)) return {};
    return static_cast<double>(partial_.size()) <= lines_ ? FilledLine{} : take(order_.begin()->second);
}

void PartialLines::join(std::uint64_t line, std::uint32_t sectors, const LineBytes& bytes) {
    if (const auto known = partial_.find(line); known != partial_.end()) add(known, sectors, bytes);
}

FilledLine PartialLines::take(std::uint64_t line) {
    const auto known = partial_.find(line);
    if (known == partial_.end()) return {};
    const Partial& partial = known->second;
    const std::uint32_t whole = partial.bytes.whole_sectors();
    const FilledLine filled{
        .line = line, .sectors = partial.sectors & ~whole, .whole = partial.sectors & whole, .stored = partial.stored};
    order_.erase(partial.place);
    partial_.erase(known);
    return filled;
}

}  // namespace gputomo::costs
