// Long work without the interpreter's lock, which Ctrl-C ends.
#pragma once

#include <atomic>
#include <functional>

namespace gputomo::python {

/// Set by one thread to end the work of others.
class Stop {
public:
    void set() { set_ = true; }
    [[nodiscard]] bool is_set() const { return set_; }

private:
    std::atomic<bool> set_ = false;
};

/// Calls `work` without the interpreter's lock. Handlers of signals run now and then on the main thread, so that
/// KeyboardInterrupt is raised while the work lasts. `stop` may be nullptr. Throws what `work` throws, and Interrupted
/// where a handler has raised an exception or `stop` was set.
void without_lock(const Stop* stop, const std::function<void()>& work);

}  // namespace gputomo::python
