// Lets whoever asked for long work end it early. Functions that may run for seconds look now and then whether they
// should go on.
#pragma once

#include <functional>
#include <utility>

namespace gputomo {

/// While one exists, look_for_interruption() calls `look` on this thread. It throws where the work is to end, as
/// Interrupted. Other threads, and the time after it, are not concerned.
class InterruptionScope {
public:
    using Look = std::function<void()>;

    explicit InterruptionScope(Look look) : look_(std::move(look)), outer_(std::exchange(current(), &look_)) {}
    ~InterruptionScope() { current() = outer_; }
    InterruptionScope(const InterruptionScope&) = delete;
    InterruptionScope& operator=(const InterruptionScope&) = delete;

    [[nodiscard]] static const Look*& current() {
        thread_local const Look* look = nullptr;
        return look;
    }

private:
    Look look_;
    const Look* outer_;
};

/// Throws what the innermost scope of this thread throws. Does nothing without one, as in the command line's commands.
inline void look_for_interruption() {
    if (const auto* const look = InterruptionScope::current()) (*look)();
}

}  // namespace gputomo
