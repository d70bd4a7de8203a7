#include "sim/sm/paths_of_warp.hpp"

#include <algorithm>
#include <tuple>

namespace gputomo::sim {

void WarpPaths::start(std::uint32_t mask, std::uint32_t body_size) {
    paths_.assign(1, {.pc = 0, .reconverge = body_size, .mask = mask});
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

bool WarpPaths::branch(std::uint32_t taken, const BranchTargets& to) {
    WarpPath& path = paths_[current_];
    const std::uint32_t staying = path.mask & ~taken;
    if (taken == 0 || staying == 0) {
        advance(taken != 0 ? to.taken : to.not_taken);
        return false;
    }
    const auto split = [&](std::uint32_t mask, std::uint32_t pc) {
        return WarpPath{.pc = pc, .reconverge = to.reconverge, .mask = mask, .turns = path.turns + (pc <= path.pc ? 1 : 0)};
    };
    const WarpPath taken_path = split(taken, to.taken), staying_path = split(staying, to.not_taken);
    if (kind_ == Divergence::stack) {
        path.pc = to.reconverge;
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
    for (auto& path : paths_) {
        path.mask &= ~mask;
        path.awaits_members = false;  // it may have waited for those that ended: looks again
    }
    settle();
}

void WarpPaths::wait_at_barrier(int barrier, std::uint32_t threads) {
    WarpPath& path = paths_[current_];
    path.barrier = barrier;
    path.arrived = threads;
    ++path.pc;
    if (kind_ == Divergence::independent) pick();
}

void WarpPaths::release_barrier(int barrier) {
    for (auto& path : paths_)
        if (path.barrier == barrier) path.barrier = -1;
    settle();
}

void WarpPaths::wait_for_members() {
    paths_[current_].awaits_members = true;
    settle();
}

void WarpPaths::release_members(std::uint32_t threads) {
    for (auto& path : paths_)
        if ((path.mask & threads) != 0) {
            path.awaits_members = false;
            ++path.pc;
        }
    settle();
}

bool WarpPaths::blocked() const {
    if (paths_.empty()) return false;
    return kind_ == Divergence::stack ? paths_[current_].waits()
                                      : std::all_of(paths_.begin(), paths_.end(), [](const WarpPath& p) { return p.waits(); });
}

void WarpPaths::settle() {
    if (kind_ == Divergence::stack) {
        while (!paths_.empty()) {
            const WarpPath& top = paths_.back();
            const bool joined = paths_.size() > 1 && top.pc == top.reconverge && !top.waits();
            if (top.mask != 0 && !joined) break;
            paths_.pop_back();
        }
        current_ = paths_.empty() ? 0 : paths_.size() - 1;
        return;
    }
    std::erase_if(paths_, [](const WarpPath& p) { return p.mask == 0; });
    if (paths_.size() > 1) merge_equal();
    pick();
}

void WarpPaths::merge_equal() {
    for (std::size_t i = 0; i < paths_.size(); ++i)
        for (std::size_t j = paths_.size(); j-- > i + 1;) {
            WarpPath &a = paths_[i], &b = paths_[j];
            if (a.pc != b.pc || a.barrier >= 0 || b.barrier >= 0) continue;
            a.mask |= b.mask;
            a.turns = std::min(a.turns, b.turns);
            a.reconverge = std::max(a.reconverge, b.reconverge);
            a.awaits_members = false;  // more of them are there now: looks again
            paths_.erase(paths_.begin() + static_cast<std::ptrdiff_t>(j));
        }
}

void WarpPaths::pick() {
    const auto order = [](const WarpPath& p) {
        const std::uint32_t patience = p.pc == p.reconverge ? kReconvergencePatience : 0;
        return std::tuple(p.waits(), p.turns + patience, p.pc);
    };
    current_ = 0;
    for (std::size_t i = 1; i < paths_.size(); ++i)
        if (order(paths_[i]) < order(paths_[current_])) current_ = i;
}

}  // namespace gputomo::sim
