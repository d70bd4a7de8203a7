// What an asynchronous bulk copy moves: which global memory it touches, and whose barriers it signals.
#pragma once

#include <cstdint>
#include <vector>

namespace gputomo::sim::machine_code {

struct BlockState;

/// Bytes of global memory that lie together.
struct GlobalRange {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
};

/// One bulk copy as it was executed last. Its data and its arrivals are there at once; a simulator with timing says
/// when they are.
struct Transfer {
    enum class Kind : std::uint8_t {
        none,
        load,      ///< from global to shared memory
        store,     ///< from shared to global memory
        reduce,    ///< from shared memory, into global memory by an operation on each element
        prefetch,  ///< from global memory into the L2
        between    ///< from shared memory to that of a block of the cluster
    };
    /// A barrier in the shared memory of a block to which the bytes are reported.
    struct Signal {
        BlockState* block = nullptr;
        std::uint64_t barrier = 0;  ///< offset in that block's shared memory
    };
    Kind kind = Kind::none;
    bool tensor = false;      ///< a box of a tensor, described by a tensor map
    std::uint64_t map = 0;    ///< address of the tensor map
    std::uint64_t bytes = 0;  ///< of shared memory
    std::vector<GlobalRange> ranges;
    std::vector<Signal> signals;

    void start(Kind its_kind, bool is_tensor) {
        kind = its_kind;
        tensor = is_tensor;
        bytes = 0;
        ranges.clear();
        signals.clear();
    }
    /// Neighbouring ranges become one.
    void add(std::uint64_t address, std::uint64_t count) {
        if (!ranges.empty() && ranges.back().address + ranges.back().bytes == address)
            ranges.back().bytes += count;
        else
            ranges.push_back({address, count});
    }
};

}  // namespace gputomo::sim::machine_code
