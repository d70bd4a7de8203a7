#include "sim/sm/load_store/coalescer.hpp"
#include "machine/cache_scope.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::sim {
namespace {

/// The cache at which an access begins; nullptr where the path has none.
const machine::Cache* cache_of(const machine::Machine& machine, const std::string& path, Coalescer::From from) {
    for (const auto& key : machine::caches_on(machine, path)) {
        const auto cache = machine.caches.find(key);
        if (cache == machine.caches.end()) continue;  // the memory system refuses such a description
        if (from == Coalescer::From::nearest || machine::is_shared_by_all(key, cache->second)) return &cache->second;
    }
    return nullptr;
}

constexpr std::uint32_t kMaskBits = 64;
constexpr std::uint32_t kLineShift = std::countr_zero(costs::kStoredLine);

/// The pieces of a line's mask that lie in `bytes` bytes from `begin` on.
std::uint64_t mask_of(std::uint64_t mask, std::uint32_t begin, std::uint32_t bytes) {
    const std::uint32_t first = begin >> Segment::kPieceShift, count = std::max(1U, bytes >> Segment::kPieceShift);
    if (first + count > kMaskBits) return ~std::uint64_t{0};
    return (mask >> first) & (~std::uint64_t{0} >> (kMaskBits - count));
}

/// Pieces that are set in the mask for `bytes` bytes from `begin` on. Lines of more pieces than a mask has count whole.
std::uint32_t pieces_in(std::uint64_t mask, std::uint32_t begin, std::uint32_t bytes) {
    const std::uint32_t first = begin >> Segment::kPieceShift, count = std::max(1U, bytes >> Segment::kPieceShift);
    if (first + count > kMaskBits) return count;
    return static_cast<std::uint32_t>(std::popcount(mask_of(mask, begin, bytes)));
}

}  // namespace

Coalescer::Coalescer(const machine::Machine& machine, const std::string& path, From from) {
    group_ = static_cast<std::uint32_t>(machine.memory.coalescing_group.value_or(kMostThreads));
    if (const auto* cache = cache_of(machine, path, from)) {
        use_cache(*cache);
    } else if (machine.memory.transaction_sizes) {
        use_transaction_sizes(*machine.memory.transaction_sizes);
    } else if (const auto* nearest = cache_of(machine, path, From::nearest)) {
        use_cache(*nearest);
    }
}

Coalescer Coalescer::word_by_word() {
    Coalescer made;
    made.words_ = true;
    return made;
}

void Coalescer::use_cache(const machine::Cache& cache) {
    const auto line = static_cast<std::uint64_t>(cache.line.value_or(1 << 7));
    line_shift_ = static_cast<std::uint32_t>(std::countr_zero(line));
    sector_shift_ = static_cast<std::uint32_t>(
        std::countr_zero(static_cast<std::uint64_t>(cache.sector.value_or(cache.line.value_or(1 << 7)))));
}

void Coalescer::use_transaction_sizes(const std::vector<std::int64_t>& sizes) {
    for (const auto size : sizes) sizes_.push_back(static_cast<std::uint32_t>(size));
    std::sort(sizes_.begin(), sizes_.end());
    line_shift_ = sector_shift_ = static_cast<std::uint32_t>(std::countr_zero(sizes_.back()));
}

const std::vector<Segment>& Coalescer::merge(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask,
                                             std::uint32_t bytes) {
    segments_.clear();
    for (std::uint32_t first = 0; first < kMostThreads; first += group_) {
        const std::uint32_t group = group_ == kMostThreads ? mask : mask & (((1U << group_) - 1) << first);
        if (group == 0) continue;
        if (words_)
            merge_words(addresses, group, bytes);
        else
            merge_group(addresses, group, bytes);
    }
    return segments_;
}

void Coalescer::merge_words(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask, std::uint32_t bytes) {
    for (; mask != 0; mask &= mask - 1) {
        const std::uint64_t address = addresses[static_cast<std::size_t>(std::countr_zero(mask))];
        const bool known =
            std::any_of(segments_.rbegin(), segments_.rend(), [&](const Segment& s) { return s.address == address; });
        if (!known) segments_.push_back({address, bytes, 1, false, bytes});
    }
}

void Coalescer::merge_group(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask, std::uint32_t bytes) {
    lines_.clear();
    const std::uint64_t line_bytes = std::uint64_t{1} << line_shift_;
    for (; mask != 0; mask &= mask - 1) {
        std::uint64_t begin = addresses[static_cast<std::size_t>(std::countr_zero(mask))];
        for (const std::uint64_t end = begin + bytes; begin < end;) {
            const std::uint64_t stop = std::min(end, (begin | (line_bytes - 1)) + 1);
            touch(begin, stop);
            begin = stop;
        }
    }
    for (const Line& line : lines_) {
        if (sizes_.empty())
            add_runs(line);
        else
            add_smallest(line);
    }
}

void Coalescer::touch(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t base = begin >> line_shift_ << line_shift_;
    auto line = std::find_if(lines_.rbegin(), lines_.rend(), [&](const Line& l) { return l.base == base; });
    if (line == lines_.rend()) {
        lines_.push_back({base, begin, end, 0, 0, 0, {}});
        line = lines_.rbegin();
    }
    line->low = std::min(line->low, begin);
    line->high = std::max(line->high, end);
    line->bytes += end - begin;
    line->touched.add({begin, end - begin});
    for (std::uint64_t piece = (begin - base) >> Segment::kPieceShift;
         piece <= (end - 1 - base) >> Segment::kPieceShift; ++piece)
        line->pieces |= std::uint64_t{1} << std::min<std::uint64_t>(piece, 63);
    const auto first = (begin - base) >> sector_shift_, last = (end - 1 - base) >> sector_shift_;
    line->sectors |= static_cast<std::uint32_t>((std::uint64_t{2} << last) - (std::uint64_t{1} << first));
}

void Coalescer::add_runs(const Line& line) {
    // Several threads may touch the same byte.
    const std::uint64_t touched =
        line_shift_ <= kLineShift ? std::min<std::uint64_t>(line.bytes, line.touched.count()) : line.bytes;
    const bool partial = touched < static_cast<std::uint64_t>(std::popcount(line.pieces)) << Segment::kPieceShift;
    for (std::uint32_t sectors = line.sectors; sectors != 0;) {
        const auto first = static_cast<std::uint32_t>(std::countr_zero(sectors));
        const auto count = static_cast<std::uint32_t>(std::countr_one(sectors >> first));
        const std::uint32_t begin = first << sector_shift_, bytes = count << sector_shift_;
        const std::uint32_t pieces = pieces_in(line.pieces, begin, bytes);
        // Where a line has several runs, each has its part of the threads' bytes by its pieces.
        const auto asked = line.bytes * pieces / static_cast<std::uint64_t>(std::popcount(line.pieces));
        segments_.push_back({line.base + begin, bytes, pieces, partial, static_cast<std::uint32_t>(asked),
                             mask_of(line.pieces, begin, bytes), line.touched});
        sectors &= ~static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << first);
    }
}

void Coalescer::add_smallest(const Line& line) {
    for (const auto size : sizes_) {
        const std::uint64_t base = line.low / size * size;
        if (line.high > base + size) continue;
        segments_.push_back({base, size, std::max(1U, size >> Segment::kPieceShift), false,
                             static_cast<std::uint32_t>(line.bytes), ~std::uint64_t{0}});
        return;
    }
}

}  // namespace gputomo::sim
