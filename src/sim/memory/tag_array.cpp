#include "sim/memory/tag_array.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

namespace gputomo::sim {
namespace {

/// Up to this many ways a search is as fast as a hash.
constexpr std::uint32_t kMostWaysToSearch = 32;

/// Numbers from here on are of no block that memory holds.
constexpr std::uint64_t kFirstStranger = std::uint64_t{1} << 40;

/// Parity of the bits by folding; std::popcount is a function call on x86-64 without extensions.
std::uint32_t parity(std::uint64_t bits) {
    bits ^= bits >> 32;
    bits ^= bits >> 16;
    bits ^= bits >> 8;
    bits ^= bits >> 4;
    return (0x6996U >> (bits & 15)) & 1;
}

}  // namespace

TagArray::TagArray(std::shared_ptr<const Geometry> geometry, std::uint64_t seed)
    : geometry_(std::move(geometry)),
      block_shift_(geometry_->block_shift),
      sector_shift_(geometry_->sector_shift),
      set_mask_(std::has_single_bit(geometry_->set_ways.size()) && geometry_->dealt.empty()
                    ? geometry_->set_ways.size() - 1
                    : 0),
      replacement_(make_replacement({geometry_->policy, geometry_->set_ways, geometry_->way_odds, seed})) {
    std::uint32_t total = 0;
    for (const auto ways : geometry_->set_ways) {
        sets_.push_back({.first = total});
        total += ways;
    }
    tags_.assign(total, kEmpty);
    lines_.resize(total);
    if (*std::max_element(geometry_->set_ways.begin(), geometry_->set_ways.end()) > kMostWaysToSearch)
        index_.emplace(total);
}

std::uint32_t TagArray::set_of(std::uint64_t address, std::uint64_t number) const {
    const auto& masks = geometry_->index_masks;
    if (masks.empty()) {
        if (set_mask_ != 0) return static_cast<std::uint32_t>(number & set_mask_);
        if (const auto& dealt = geometry_->dealt; !dealt.empty()) return dealt[number % dealt.size()];
        return static_cast<std::uint32_t>(sets_.size() == 1 ? 0 : number % sets_.size());
    }
    std::uint32_t set = 0;
    for (std::size_t bit = 0; bit < masks.size(); ++bit) set |= parity(address & masks[bit]) << bit;
    return set;
}

/// The way that holds block `number`; the number of filled ways where there is none.
std::uint32_t TagArray::way_of(const Set& set, std::uint64_t number) const {
    const std::uint64_t* tags = tags_.data() + set.first;
    if (tags[set.last_way] == number) return set.last_way;
    if (index_) {
        const std::uint32_t slot = index_->find(number);
        return slot == KeyIndex::kNone ? set.filled : slot - set.first;
    }
    std::uint32_t way = 0;
    while (way < set.filled && tags[way] != number) ++way;
    return way;
}

std::uint32_t TagArray::make_room(std::uint32_t number) {
    Set& set = sets_[number];
    if (const std::uint32_t way = geometry_->data_lines == 0 ? set.filled : way_without_data(set); way < set.filled)
        return way;
    if (set.filled < geometry_->set_ways[number]) return set.filled++;
    return replacement_->victim(number);
}

std::uint32_t TagArray::way_without_data(const Set& set) const {
    const auto first = tags_.begin() + set.first;
    return static_cast<std::uint32_t>(std::find(first, first + set.filled, kEmpty) - first);
}

void TagArray::take_data(std::size_t slot) {
    if (data_.size() < geometry_->data_lines) return data_.push_back(static_cast<std::uint32_t>(slot));
    const std::uint32_t other = std::exchange(data_[oldest_data_], static_cast<std::uint32_t>(slot));
    oldest_data_ = (oldest_data_ + 1) % data_.size();
    tags_[other] = kEmpty;
    lines_[other] = {};
    if (index_) index_->assign(other, kEmpty);
}

TagArray::Found TagArray::lookup(std::uint64_t address, Sectors sectors, bool allocate) {
    const std::uint64_t number = address >> block_shift_;
    const std::uint32_t index = set_of(address, number);
    Set& set = sets_[index];
    std::uint32_t way = way_of(set, number);
    if (way < set.filled) {
        set.last_way = way;
        replacement_->touch(index, way);
        Line& line = lines_[set.first + way];
        const Sectors missing = sectors & ~line.valid;
        if (allocate) line.valid |= missing;
        return {&line, missing, 0, 0};
    }
    if (!allocate) return {nullptr, sectors, 0, 0};
    is_empty_ = false;
    way = make_room(index);
    set.last_way = way;
    const std::uint32_t slot = set.first + way;
    Line& line = lines_[slot];
    const Found found{&line, sectors, line.dirty, tags_[slot] << block_shift_};
    if (geometry_->data_lines != 0 && tags_[slot] == kEmpty) take_data(slot);
    tags_[slot] = number;
    if (index_) index_->assign(slot, number);
    line = {.valid = sectors};
    replacement_->fill(index, way);
    return found;
}

bool TagArray::holds(std::uint64_t address, Sectors sectors) const {
    const std::uint64_t number = address >> block_shift_;
    const Set& set = sets_[set_of(address, number)];
    const std::uint32_t way = way_of(set, number);
    return way < set.filled && (sectors & ~lines_[set.first + way].valid) == 0;
}

void TagArray::drop(std::uint64_t address) {
    const std::uint64_t number = address >> block_shift_;
    const Set& set = sets_[set_of(address, number)];
    if (const std::uint32_t way = way_of(set, number); way < set.filled) lines_[set.first + way].valid = 0;
}

std::uint64_t TagArray::filled() const {
    return std::transform_reduce(sets_.begin(), sets_.end(), std::uint64_t{0}, std::plus{},
                                 [](const Set& set) { return set.filled; });
}

void TagArray::clear() {
    if (std::exchange(is_empty_, true)) return;
    std::ranges::fill(tags_, kEmpty);
    std::ranges::fill(lines_, Line{});
    for (Set& set : sets_) set = {.first = set.first};
    data_.clear();
    oldest_data_ = 0;
    if (index_) index_.emplace(tags_.size());
}

void TagArray::fill_with_strangers(std::uint64_t blocks) {
    std::vector<Line> residents;
    for (const Set& set : sets_)
        residents.insert(residents.end(), lines_.begin() + set.first, lines_.begin() + set.first + set.filled);
    if (residents.empty() || geometry_->data_lines != 0) return;
    is_empty_ = false;
    std::minstd_rand random;
    for (bool has_room = true; has_room && blocks != 0;) {
        has_room = false;
        for (std::uint32_t index = 0; index < sets_.size() && blocks != 0; ++index) {
            Set& set = sets_[index];
            if (set.filled == geometry_->set_ways[index]) continue;
            const std::uint32_t way = set.filled++;
            const std::uint32_t slot = set.first + way;
            tags_[slot] = kFirstStranger + slot;
            if (index_) index_->assign(slot, tags_[slot]);
            const Line& like = residents[random() % residents.size()];
            lines_[slot] = {.valid = like.valid, .dirty = like.dirty};
            replacement_->fill(index, way);
            --blocks;
            has_room = true;
        }
    }
}

void TagArray::mark_clean(std::uint64_t address, Sectors sectors) {
    const std::uint64_t number = address >> block_shift_;
    const Set& set = sets_[set_of(address, number)];
    if (const std::uint32_t way = way_of(set, number); way < set.filled) lines_[set.first + way].dirty &= ~sectors;
}

bool TagArray::mark_dirty(std::uint64_t address, Sectors sectors) {
    const std::uint64_t number = address >> block_shift_;
    const Set& set = sets_[set_of(address, number)];
    const std::uint32_t way = way_of(set, number);
    if (way == set.filled) return false;
    Line& line = lines_[set.first + way];
    if ((line.valid & sectors) != sectors) return false;
    line.dirty |= sectors;
    return true;
}

}  // namespace gputomo::sim
