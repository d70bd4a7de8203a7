#include "sim/memory/tag_array.hpp"

#include <algorithm>
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
      filled_(geometry_->set_ways.size(), 0),
      last_way_(geometry_->set_ways.size(), 0),
      replacement_(make_replacement({geometry_->policy, geometry_->set_ways, geometry_->way_odds, seed})) {
    std::size_t total = 0;
    for (const auto ways : geometry_->set_ways) {
        first_.push_back(total);
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
        return static_cast<std::uint32_t>(filled_.size() == 1 ? 0 : number % filled_.size());
    }
    std::uint32_t set = 0;
    for (std::size_t bit = 0; bit < masks.size(); ++bit) set |= parity(address & masks[bit]) << bit;
    return set;
}

/// The way that holds block `number`; the number of filled ways where there is none.
std::uint32_t TagArray::way_of(std::uint32_t set, std::uint64_t number) const {
    const std::size_t first = first_[set];
    const std::uint32_t last = last_way_[set];
    if (tags_[first + last] == number) return last;
    const std::uint32_t filled = filled_[set];
    if (index_) {
        const std::uint32_t slot = index_->find(number);
        return slot == KeyIndex::kNone ? filled : static_cast<std::uint32_t>(slot - first);
    }
    std::uint32_t way = 0;
    while (way < filled && tags_[first + way] != number) ++way;
    return way;
}

std::uint32_t TagArray::make_room(std::uint32_t set) {
    if (const std::uint32_t way = geometry_->data_lines == 0 ? filled_[set] : way_without_data(set); way < filled_[set])
        return way;
    if (filled_[set] < geometry_->set_ways[set]) return filled_[set]++;
    return replacement_->victim(set);
}

std::uint32_t TagArray::way_without_data(std::uint32_t set) const {
    const auto first = tags_.begin() + static_cast<std::ptrdiff_t>(first_[set]);
    return static_cast<std::uint32_t>(std::find(first, first + filled_[set], kEmpty) - first);
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
    const std::uint32_t set = set_of(address, number);
    const std::size_t first = first_[set];
    std::uint32_t way = way_of(set, number);
    if (way < filled_[set]) {
        last_way_[set] = way;
        replacement_->touch(set, way);
        Line& line = lines_[first + way];
        const Sectors missing = sectors & ~line.valid;
        if (allocate) line.valid |= missing;
        return {&line, missing, 0, 0};
    }
    if (!allocate) return {nullptr, sectors, 0, 0};
    way = make_room(set);
    last_way_[set] = way;
    Line& line = lines_[first + way];
    const Found found{&line, sectors, line.dirty, tags_[first + way] << block_shift_};
    if (geometry_->data_lines != 0 && tags_[first + way] == kEmpty) take_data(first + way);
    tags_[first + way] = number;
    if (index_) index_->assign(static_cast<std::uint32_t>(first + way), number);
    line = {0, sectors, 0, 0};
    replacement_->fill(set, way);
    return found;
}

void TagArray::clear() {
    std::ranges::fill(tags_, kEmpty);
    std::ranges::fill(lines_, Line{});
    std::ranges::fill(filled_, 0);
    std::ranges::fill(last_way_, 0);
    data_.clear();
    oldest_data_ = 0;
    if (index_) index_.emplace(tags_.size());
}

void TagArray::fill_with_strangers(std::uint64_t blocks) {
    std::vector<Line> residents;
    for (std::uint32_t set = 0; set < filled_.size(); ++set)
        for (std::uint32_t way = 0; way < filled_[set]; ++way) residents.push_back(lines_[first_[set] + way]);
    if (residents.empty() || geometry_->data_lines != 0) return;
    std::minstd_rand random;
    for (bool has_room = true; has_room && blocks != 0;) {
        has_room = false;
        for (std::uint32_t set = 0; set < filled_.size() && blocks != 0; ++set) {
            if (filled_[set] == geometry_->set_ways[set]) continue;
            const std::uint32_t way = filled_[set]++;
            const std::size_t slot = first_[set] + way;
            tags_[slot] = kFirstStranger + slot;
            if (index_) index_->assign(static_cast<std::uint32_t>(slot), tags_[slot]);
            const Line& like = residents[random() % residents.size()];
            lines_[slot] = {0, like.valid, like.dirty, 0};
            replacement_->fill(set, way);
            --blocks;
            has_room = true;
        }
    }
}

bool TagArray::mark_dirty(std::uint64_t address, Sectors sectors) {
    const std::uint64_t number = address >> block_shift_;
    const std::uint32_t set = set_of(address, number);
    const std::uint32_t way = way_of(set, number);
    if (way == filled_[set]) return false;
    Line& line = lines_[first_[set] + way];
    if ((line.valid & sectors) != sectors) return false;
    line.dirty |= sectors;
    return true;
}

}  // namespace gputomo::sim
