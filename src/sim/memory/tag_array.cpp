#include "sim/memory/tag_array.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>

namespace gputomo::sim {
namespace {

/// More sectors than bits in Entry::sectors.
constexpr std::uint64_t kMaxSectors = 64;

template <class T>
const T& need(const machine::Field<T>& field, const std::string& where, std::string_view leaf) {
    if (!field) throw InputError(fmt::format("{}.{}: missing; the simulator needs it", where, leaf));
    return *field;
}

template <class Part>
void read_sets(const Part& part, const std::string& where, Geometry& to) {
    if (part.set_ways) {
        to.set_ways.assign(part.set_ways.value.begin(), part.set_ways.value.end());
    } else {
        const auto ways = need(part.ways, where, "ways");
        const auto sets = need(part.sets, where, "sets");
        if (ways <= 0 || sets <= 0) throw InputError(fmt::format("{}: ways and sets must be positive", where));
        to.set_ways.assign(static_cast<std::size_t>(sets), static_cast<std::uint32_t>(ways));
    }
    to.policy = need(part.policy, where, "policy");
}

void check(const Geometry& geometry, const std::string& where) {
    if (geometry.block == 0 || geometry.sector == 0 || geometry.block % geometry.sector != 0 ||
        geometry.block / geometry.sector > kMaxSectors)
        throw InputError(fmt::format("{}: {} bytes with sectors of {}; expected 1 to {} whole sectors", where, geometry.block,
                                     geometry.sector, kMaxSectors));
    if (!geometry.index_masks.empty() && geometry.set_ways.size() != std::size_t{1} << geometry.index_masks.size())
        throw InputError(fmt::format("{}.sets: found {}; expected 2^{} with that index", where, geometry.set_ways.size(),
                                     geometry.index_masks.size()));
    try {
        (void)make_replacement(geometry.policy, {1}, {}, 0);
    } catch (const std::invalid_argument& e) {
        throw InputError(fmt::format("{}.policy: {}", where, e.what()));
    }
}

}  // namespace

Geometry geometry_of(const machine::Cache& cache, const std::string& where) {
    Geometry geometry;
    geometry.block = static_cast<std::uint64_t>(need(cache.line, where, "line"));
    geometry.sector = static_cast<std::uint64_t>(cache.sector.value_or(cache.line.value));
    read_sets(cache, where, geometry);
    geometry.way_odds = cache.way_odds.value_or({});
    const std::string index = cache.index.value_or("modulo");
    if (index == "bits")
        for (const auto bit : need(cache.index_bits, where, "index_bits")) geometry.index_masks.push_back(std::uint64_t{1} << bit);
    if (index == "hash")
        for (const auto mask : need(cache.index_hash, where, "index_hash")) geometry.index_masks.push_back(static_cast<std::uint64_t>(mask));
    check(geometry, where);
    return geometry;
}

Geometry geometry_of(const machine::Tlb& tlb, const std::string& where) {
    Geometry geometry;
    geometry.block = geometry.sector = static_cast<std::uint64_t>(need(tlb.span, where, "span"));
    read_sets(tlb, where, geometry);
    check(geometry, where);
    return geometry;
}

TagArray::TagArray(const Geometry& geometry, std::uint64_t seed)
    : block_(geometry.block),
      sector_(geometry.sector),
      index_masks_(geometry.index_masks),
      set_ways_(geometry.set_ways),
      last_way_(geometry.set_ways.size(), 0),
      replacement_(make_replacement(geometry.policy, geometry.set_ways, geometry.way_odds, seed)) {
    std::size_t total = 0;
    for (const auto ways : set_ways_) {
        first_.push_back(total);
        total += ways;
    }
    entries_.resize(total);
}

std::uint32_t TagArray::set_of(std::uint64_t address, std::uint64_t number) const {
    if (index_masks_.empty()) return static_cast<std::uint32_t>(number % set_ways_.size());
    std::uint32_t set = 0;
    for (std::size_t bit = 0; bit < index_masks_.size(); ++bit)
        set |= static_cast<std::uint32_t>(std::popcount(address & index_masks_[bit]) & 1) << bit;
    return set;
}

TagArray::Lookup TagArray::access(std::uint64_t address, bool allocate) {
    const std::uint64_t number = address / block_;
    const std::uint64_t sector_bit = std::uint64_t{1} << ((address % block_) / sector_);
    const std::uint32_t set = set_of(address, number);
    Entry* const first = &entries_[first_[set]];
    const std::uint32_t ways = set_ways_[set];

    std::uint32_t way = last_way_[set];
    if (first[way].tag != number)
        for (way = 0; way < ways && first[way].tag != number;) ++way;
    if (way < ways) {
        last_way_[set] = way;
        Entry& entry = first[way];
        replacement_->touch(set, way);
        const bool hit = (entry.sectors & sector_bit) != 0;
        if (allocate) entry.sectors |= sector_bit;
        return {hit, &entry.ready};
    }
    if (!allocate) return {};
    for (way = 0; way < ways && first[way].tag != kEmpty;) ++way;
    if (way == ways) way = replacement_->victim(set);
    last_way_[set] = way;
    first[way] = {number, sector_bit, 0};
    replacement_->fill(set, way);
    return {false, &first[way].ready};
}

}  // namespace gputomo::sim
