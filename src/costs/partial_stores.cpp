#include "costs/partial_stores.hpp"

#include "machine/cache_scope.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::costs {
namespace {

constexpr std::uint32_t kSectorsOfLine = kStoredLine / kStoredSector, kWordsOfSector = kStoredSector / kStoredWord;

/// The words of these sectors, as bits.
std::uint32_t words_of(std::uint32_t sectors) {
    std::uint32_t words = 0;
    for (std::uint32_t sector = 0; sector < kSectorsOfLine; ++sector)
        if ((sectors >> sector & 1) != 0) words |= ((1U << kWordsOfSector) - 1) << (sector * kWordsOfSector);
    return words;
}

}  // namespace

PartialStores partial_stores_of(const machine::Machine& machine) {
    PartialStores spec;
    if (const auto stores = machine.accesses.find("l2_store"); stores != machine.accesses.end())
        spec.merged_lines = static_cast<std::size_t>(stores->second.merged_lines.value_or(0));
    if (const auto* const cache = machine::shared_cache(machine, "global"); cache != nullptr)
        spec.kept_lines = static_cast<double>(cache->partial_capacity.value_or(0)) / kStoredLine;
    spec.scattered_read = static_cast<double>(machine.memory.fetch_bytes.value_or(0));
    spec.scattered_write = static_cast<double>(machine.memory.scattered_write_bytes.value_or(0));
    return spec;
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

void StoreQueue::add(std::uint64_t line, std::uint32_t sectors, double leaves) {
    if (waiting_.empty()) return;
    waiting_[next_] = {line, sectors, leaves};
    next_ = (next_ + 1) % waiting_.size();
    last_ = std::max(last_, leaves);
}

FilledLine PartialLines::store(std::uint64_t line, std::uint32_t sectors, std::uint32_t words) {
    const auto [known, first] = partial_.try_emplace(line);
    Partial& partial = known->second;
    if (!first) order_.erase(partial.place);
    partial.sectors |= sectors;
    partial.words |= words;
    if (const std::uint32_t all = words_of(partial.sectors); (partial.words & all) == all) {
        partial_.erase(known);
        return {};
    }
    partial.place = order_.insert(order_.end(), line);
    if (static_cast<double>(partial_.size()) <= lines_) return {};
    FilledLine filled{.line = order_.front(), .sectors = 0};
    const auto oldest = partial_.find(filled.line);
    // Whole sectors of it need nothing.
    for (std::uint32_t sector = 0; sector < kSectorsOfLine; ++sector) {
        const std::uint32_t bit = oldest->second.sectors & 1U << sector, all = words_of(bit);
        if ((oldest->second.words & all) != all) filled.sectors |= bit;
    }
    partial_.erase(oldest);
    order_.pop_front();
    const std::uint64_t row = filled.line * kStoredLine / kRow;
    std::uint64_t& recent = recent_[row % kRecent];
    filled.read = filled.written = static_cast<double>(std::popcount(filled.sectors) * kStoredSector);
    if (recent != row + 1) {
        filled.read = std::max(filled.read, spec_.scattered_read);
        filled.written = std::max(filled.written, spec_.scattered_write);
    }
    recent = row + 1;
    return filled;
}

}  // namespace gputomo::costs
