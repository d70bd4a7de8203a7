// The threads of a warp that execute machine code together, and where the others wait.
#pragma once

#include "sim/machine_code/warp.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::sim::machine_code {

/// Threads of a warp at one instruction.
struct Path {
    enum class State : std::uint8_t {
        ready,
        converging,    ///< at BSYNC
        warp_barrier,  ///< at WARPSYNC
        block_barrier  ///< at BAR
    };
    std::size_t step = 0;
    std::uint32_t mask = 0;
    State state = State::ready;
    std::uint8_t barrier = 0;    ///< convergence barrier, or barrier of the block
    std::uint32_t expected = 0;  ///< lanes that WARPSYNC waits for
};

/// All paths of a warp. One of the ready ones is current.
class Paths {
public:
    Paths() = default;
    explicit Paths(std::uint32_t lanes) { start(lanes); }
    /// All lanes are at the first instruction.
    void start(std::uint32_t lanes) {
        all_.assign(1, {.mask = lanes});
        current_ = 0;
        exited_ = 0;
    }

    /// The path to execute; nullptr where none is ready. Any change of the paths may invalidate the pointer.
    [[nodiscard]] Path* current() {
        if (current_ < all_.size() && all_[current_].state == Path::State::ready) return &all_[current_];
        return another();
    }
    [[nodiscard]] const std::vector<Path>& all() const { return all_; }
    [[nodiscard]] std::uint32_t exited() const { return exited_; }
    /// Lanes that have not ended.
    [[nodiscard]] std::uint32_t live() const {
        std::uint32_t mask = 0;
        for (const Path& path : all_) mask |= path.mask;
        return mask;
    }
    [[nodiscard]] bool done() const { return all_.empty(); }

    /// These lanes leave the current path and go on at `step`.
    void split(std::uint32_t lanes, std::size_t step);
    /// The lanes of the current path end.
    void exit(std::uint32_t lanes);
    /// The current path waits in this state and goes on at `step`.
    void wait(Path::State state, std::uint8_t barrier, std::uint32_t expected, std::size_t step);
    /// Another path becomes current, if one is ready.
    void rotate();
    /// Lets paths go on whose convergence barrier or WARPSYNC no longer waits for anyone.
    void release(const std::array<Warp::Row, 16>& convergence);
    /// Lets the paths go on that wait for a barrier of the block.
    void release_block_barrier(std::uint8_t barrier);

private:
    /// Makes the first ready path current; nullptr where there is none.
    [[nodiscard]] Path* another();
    /// Whether a waiting path may go on.
    [[nodiscard]] bool satisfied(const Path& path, const std::array<Warp::Row, 16>& convergence) const;
    /// Joins ready paths that were released at the same instruction.
    void join(const std::vector<std::size_t>& released);

    std::vector<Path> all_;
    std::size_t current_ = 0;
    std::uint32_t exited_ = 0;
};

}  // namespace gputomo::sim::machine_code
