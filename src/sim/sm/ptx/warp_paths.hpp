// The paths of a warp whose threads diverged: a SIMT stack, or independently scheduled splits.
#pragma once

#include <cstdint>
#include <vector>

namespace gputomo::sim {

/// Threads that share a program counter.
struct WarpPath {
    std::uint32_t pc = 0;
    std::uint32_t reconverge = 0;  ///< pc where it waits for (stack) or meets (independent) its siblings
    /// Independent scheduling: outer points where it still has to meet other paths, the next one last.
    std::vector<std::uint32_t> outer;
    std::uint32_t mask = 0;
    std::uint32_t iterations = 0;  ///< backward branches taken; independent scheduling prefers paths with fewer
    int barrier = -1;              ///< block barrier that it waits at (its pc is the instruction behind); -1: none
    std::uint32_t arrived = 0;     ///< its threads that take part in that barrier
    bool awaits_members = false;   ///< at an instruction that other threads of the warp must reach as well

    [[nodiscard]] bool waits() const { return barrier >= 0 || awaits_members; }
};

enum class Divergence : std::uint8_t { stack, independent };

/// Program counters of the two sides of a branch, and where they meet again.
struct BranchTargets {
    std::uint32_t taken = 0;
    std::uint32_t not_taken = 0;
    std::uint32_t reconverge = 0;
};

class WarpPaths {
public:
    WarpPaths(Divergence kind, bool taken_first) : kind_(kind), taken_first_(taken_first) {}

    void start(std::uint32_t mask, std::uint32_t body_size);

    /// Whether no thread is left.
    [[nodiscard]] bool finished() const { return paths_.empty(); }
    [[nodiscard]] bool independent() const { return kind_ == Divergence::independent; }
    [[nodiscard]] WarpPath& current() { return paths_[current_]; }
    [[nodiscard]] const WarpPath& current() const { return paths_[current_]; }
    [[nodiscard]] std::vector<WarpPath>& all() { return paths_; }
    [[nodiscard]] const std::vector<WarpPath>& all() const { return paths_; }
    [[nodiscard]] std::uint32_t live() const;

    /// The current path continues at `pc`.
    void advance(std::uint32_t pc) {
        WarpPath& path = paths_[current_];
        if (pc <= path.pc) ++path.iterations;
        step(path, pc);
        if (paths_.size() > 1) settle();
    }
    /// The threads in `taken` take the branch, the others of the current path do not. Returns whether the path split.
    bool branch(std::uint32_t taken, const BranchTargets& to);
    /// The threads in `mask` end.
    void exit(std::uint32_t mask);
    /// `threads` of the current path wait at a barrier, and the rest of the path with them. Independent scheduling
    /// continues with another path if there is one.
    void wait_at_barrier(int barrier, std::uint32_t threads);
    /// All paths that wait at the barrier may continue.
    void release_barrier(int barrier);
    /// The current path stays where it is until other threads arrive at the same instruction.
    void wait_for_members();
    /// The paths of `threads` arrived together and continue behind their instructions.
    void release_members(std::uint32_t threads);
    /// Whether no path can issue: all of them wait, or the top of the stack does.
    [[nodiscard]] bool blocked() const;

private:
    void settle();
    void merge_equal();
    void pick();
    /// The path continues at `pc` and leaves the meeting point where it was, if it was at one.
    static void step(WarpPath& path, std::uint32_t pc) {
        leave_meeting(path);
        path.pc = pc;
    }
    static void leave_meeting(WarpPath& path) {
        if (path.pc != path.reconverge || path.outer.empty()) return;
        path.reconverge = path.outer.back();
        path.outer.pop_back();
    }
    [[nodiscard]] bool others_come_to(std::uint32_t pc, const WarpPath& but) const;
    static void merge(WarpPath& into, const WarpPath& from);

    /// A path that has reached the point where its siblings would join it waits for them: it runs only after
    /// paths with fewer than this many more iterations. Without the bound, a thread that leaves a spin loop
    /// could never go on and release the others. No measurement says how long a GPU waits. A larger bound makes
    /// such spin loops take longer, a smaller one separates threads whose loops differ in length.
    static constexpr std::uint32_t kReconvergencePatience = 64;

    Divergence kind_;
    bool taken_first_;
    std::size_t current_ = 0;
    std::vector<WarpPath> paths_;
};

}  // namespace gputomo::sim
