// How many registers a thread needs: the most that are live at once, by liveness over basic blocks.
//
// A compiler that allocates well needs no more, so the simulated GPU reports and allocates this number. Parameters lie
// in shared memory (compute capability 1.x) or in a constant bank, and instructions take them as operands from there.
// Only a memory access needs its parameter in a register, while it is issued.
#include "sim/exec/program.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::sim {
namespace {

using Bits = std::vector<std::uint64_t>;

void set(Bits& bits, std::uint16_t slot, bool value) {
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    bits[slot / 64] = value ? bits[slot / 64] | bit : bits[slot / 64] & ~bit;
}
bool test(const Bits& bits, std::uint16_t slot) { return ((bits[slot / 64] >> (slot % 64)) & 1) != 0; }

struct Block {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    Bits live_out;
};

class Liveness {
public:
    Liveness(const std::vector<Operation>& operations, const std::vector<std::uint8_t>& words)
        : operations_(operations),
          words_(words),
          parameter_(parameters(operations, words.size())),
          successors_(successors_of(operations)),
          size_((words.size() + 63) / 64) {}

    int most() {
        make_blocks();
        std::vector<Bits> live_in(blocks_.size() + 1, Bits(size_));
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t b = blocks_.size(); b-- > 0;) {
                Bits out(size_);
                for (const auto to : successors_[blocks_[b].end - 1])
                    for (std::size_t w = 0; w < size_; ++w) out[w] |= live_in[block_of(to)][w];
                blocks_[b].live_out = out;
                (void)scan_backwards(blocks_[b], out);
                if (out != live_in[b]) {
                    live_in[b] = out;
                    changed = true;
                }
            }
        }
        int most = 0;
        for (const auto& block : blocks_) {
            Bits live = block.live_out;
            most = std::max(most, scan_backwards(block, live));
        }
        return most;
    }

private:
    void make_blocks() {
        std::vector<bool> starts(operations_.size() + 1, false);
        starts[0] = true;
        for (std::uint32_t i = 0; i < operations_.size(); ++i)
            if (successors_[i].size() != 1 || successors_[i][0] != i + 1) {
                starts[i + 1] = true;
                for (const auto to : successors_[i]) starts[to] = true;
            }
        block_index_.assign(operations_.size() + 1, 0);
        for (std::uint32_t i = 0; i < operations_.size(); ++i) {
            if (starts[i]) blocks_.push_back({i, i, {}});
            blocks_.back().end = i + 1;
            block_index_[i] = blocks_.size() - 1;
        }
        block_index_.back() = blocks_.size();
    }
    [[nodiscard]] std::size_t block_of(std::uint32_t operation) const { return block_index_[operation]; }

    /// Changes `live` from the slots that are live behind the block to those live before it. Returns the most words
    /// that are live at once in between.
    [[nodiscard]] int scan_backwards(const Block& block, Bits& live) const {
        int now = 0;
        for (std::size_t slot = 0; slot < words_.size(); ++slot)
            if (test(live, static_cast<std::uint16_t>(slot))) now += words_[slot];
        int most = now;
        const auto change = [&](std::uint16_t slot, bool value) {
            if (parameter_[slot] || test(live, slot) == value) return;
            set(live, slot, value);
            now += value ? words_[slot] : -words_[slot];
        };
        for (std::uint32_t i = block.end; i-- > block.begin;) {
            const Operation& op = operations_[i];
            // A result takes registers beside the live values, even where it is never read.
            for (std::uint8_t w = 0; w < op.write_count; ++w) change(op.writes[w], true);
            most = std::max(most, now);
            if (op.guard == kNoSlot)
                for (std::uint8_t w = 0; w < op.write_count; ++w) change(op.writes[w], false);
            int fetched = 0;
            for (std::uint8_t w = 0; w < op.wait_count; ++w) {
                if (parameter_[op.waits[w]] && accesses_memory(op)) fetched += words_[op.waits[w]];
                if (!is_only_written(op, op.waits[w])) change(op.waits[w], true);
            }
            most = std::max(most, now + fetched);
        }
        return most;
    }

    /// By slot: whether it only ever holds one parameter.
    static std::vector<bool> parameters(const std::vector<Operation>& operations, std::size_t slots) {
        std::vector<int> writes(slots, 0);
        std::vector<bool> found(slots, false);
        for (const auto& op : operations)
            for (std::uint8_t w = 0; w < op.write_count; ++w) {
                ++writes[op.writes[w]];
                found[op.writes[w]] = op.kind == Kind::load && op.space == ptx::Space::param && op.guard == kNoSlot;
            }
        for (std::size_t slot = 0; slot < slots; ++slot) found[slot] = found[slot] && writes[slot] == 1;
        return found;
    }
    static bool accesses_memory(const Operation& op) {
        return op.kind == Kind::load || op.kind == Kind::store || op.kind == Kind::atomic || op.kind == Kind::texture;
    }

    /// Whether the operation only writes the slot: Operation::waits lists results as well as operands.
    static bool is_only_written(const Operation& op, std::uint16_t slot) {
        if (std::find(op.writes.begin(), op.writes.begin() + op.write_count, slot) ==
            op.writes.begin() + op.write_count)
            return false;
        const bool stores =
            op.kind == Kind::store && std::find(op.vector.begin(), op.vector.end(), slot) != op.vector.end();
        return !stores && slot != op.guard && std::find(op.source.begin(), op.source.end(), slot) == op.source.end();
    }

    const std::vector<Operation>& operations_;
    const std::vector<std::uint8_t>& words_;
    std::vector<bool> parameter_;
    std::vector<std::vector<std::uint32_t>> successors_;
    std::size_t size_;
    std::vector<Block> blocks_;
    std::vector<std::size_t> block_index_;
};

}  // namespace

int register_pressure(const std::vector<Operation>& operations, const std::vector<std::uint8_t>& words) {
    if (operations.empty() || words.empty()) return 0;
    return Liveness(operations, words).most();
}

}  // namespace gputomo::sim
