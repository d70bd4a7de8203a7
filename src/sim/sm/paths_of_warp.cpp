#include "sim/sm/paths_of_warp.hpp"

#include <algorithm>
#include <tuple>

namespace gputomo::sim {

void WarpPaths::start(std::uint32_t mask, std::uint32_t body_size) {
    paths_.assign(1, {0, body_size, mask, 0, false});
    current_ = 0;
}

std::uint32_t WarpPaths::live() const {
    std::uint32_t mask = 0;
    for (const auto& path : paths_) mask |= path.mask;
    return mask;
}

void WarpPaths::advance(std::uint32_t pc) {
    WarpPath& path = paths_[current_];
    if (pc <= path.pc) ++path.turns;
    path.pc = pc;
    if (paths_.size() > 1) settle();
}

bool WarpPaths::branch(std::uint32_t taken, std::uint32_t target, std::uint32_t reconverge) {
    WarpPath& path = paths_[current_];
    const std::uint32_t staying = path.mask & ~taken;
    if (taken == 0 || staying == 0) {
        advance(taken != 0 ? target : path.pc + 1);
        return false;
    }
    const std::uint32_t turns = path.turns;
    const WarpPath taken_path{target, reconverge, taken, turns + (target <= path.pc ? 1 : 0), false};
    const WarpPath staying_path{path.pc + 1, reconverge, staying, turns, false};
    if (kind_ == Divergence::stack) {
        path.pc = reconverge;
        paths_.push_back(taken_first_ ? staying_path : taken_path);
        paths_.push_back(taken_first_ ? taken_path : staying_path);
    } else {
        path = staying_path;
        paths_.push_back(taken_path);
    }
    settle();
    return true;
}

void WarpPaths::exit(std::uint32_t mask) {
    for (auto& path : paths_) path.mask &= ~mask;
    settle();
}

void WarpPaths::wait_at_barrier() {
    paths_[current_].at_barrier = true;
    ++paths_[current_].pc;
    if (kind_ == Divergence::independent) pick();
}

void WarpPaths::release_barrier() {
    for (auto& path : paths_) path.at_barrier = false;
    settle();
}

bool WarpPaths::blocked() const {
    if (paths_.empty()) return false;
    return kind_ == Divergence::stack ? paths_[current_].at_barrier
                                      : std::all_of(paths_.begin(), paths_.end(), [](const WarpPath& p) { return p.at_barrier; });
}

void WarpPaths::settle() {
    if (kind_ == Divergence::stack) {
        while (!paths_.empty()) {
            const WarpPath& top = paths_.back();
            const bool joined = paths_.size() > 1 && top.pc == top.reconverge && !top.at_barrier;
            if (top.mask != 0 && !joined) break;
            paths_.pop_back();
        }
        current_ = paths_.empty() ? 0 : paths_.size() - 1;
        return;
    }
    std::erase_if(paths_, [](const WarpPath& p) { return p.mask == 0; });
    for (std::size_t i = 0; i < paths_.size(); ++i) {
        for (std::size_t j = paths_.size(); j-- > i + 1;) {
            WarpPath &a = paths_[i], &b = paths_[j];
            if (a.pc != b.pc || a.at_barrier || b.at_barrier) continue;
            a.mask |= b.mask;
            a.turns = std::min(a.turns, b.turns);
            a.reconverge = std::max(a.reconverge, b.reconverge);
            paths_.erase(paths_.begin() + static_cast<std::ptrdiff_t>(j));
        }
    }
    pick();
}

void WarpPaths::pick() {
    const auto order = [](const WarpPath& p) {
        const std::uint32_t patience = p.pc == p.reconverge ? kReconvergencePatience : 0;
        return std::tuple(p.at_barrier, p.turns + patience, p.pc);
    };
    current_ = 0;
    for (std::size_t i = 1; i < paths_.size(); ++i)
        if (order(paths_[i]) < order(paths_[current_])) current_ = i;
}

}  // namespace gputomo::sim
