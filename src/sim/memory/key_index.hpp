// A hash table from keys to a fixed number of slots; allocates memory only when it is made.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::sim {

class KeyIndex {
public:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    explicit KeyIndex(std::size_t slots)
        : mask_(std::bit_ceil(slots * 2 + 1) - 1),
          heads_(mask_ + 1, kNone),
          keys_(slots),
          next_(slots, kNone),
          used_(slots, 0) {}

    [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
        std::uint32_t slot = heads_[bucket(key)];
        while (slot != kNone && keys_[slot] != key) slot = next_[slot];
        return slot;
    }
    /// Gives `slot` to `key` and takes it from the key that had it before.
    void assign(std::uint32_t slot, std::uint64_t key) {
        if (used_[slot] != 0) unlink(slot);
        std::uint32_t& head = heads_[bucket(key)];
        keys_[slot] = key;
        next_[slot] = head;
        head = slot;
        used_[slot] = 1;
    }

private:
    [[nodiscard]] std::size_t bucket(std::uint64_t key) const { return (key * 0x9E3779B97F4A7C15U >> 24) & mask_; }
    void unlink(std::uint32_t slot) {
        std::uint32_t* link = &heads_[bucket(keys_[slot])];
        while (*link != slot) link = &next_[*link];
        *link = next_[slot];
    }

    std::size_t mask_;
    std::vector<std::uint32_t> heads_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> next_;
    std::vector<std::uint8_t> used_;
};

}  // namespace gputomo::sim
