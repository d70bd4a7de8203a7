#include "interruption.hpp"

#include "units/error.hpp"
#include "units/interruption.hpp"

#include <nanobind/nanobind.h>

#include <chrono>

namespace gputomo::python {
namespace {

namespace nb = nanobind;

/// Handlers run at most this much later than a signal comes. Taking the lock more often slows other threads down.
constexpr std::chrono::milliseconds kBetweenLooks{50};

}  // namespace

void without_lock(const Stop* stop, const std::function<void()>& work) {
    using Clock = std::chrono::steady_clock;
    Clock::time_point next = Clock::now() + kBetweenLooks;
    const InterruptionScope scope([&] {
        if (stop != nullptr && stop->is_set()) throw Interrupted("stopped: other work that it belongs to has ended");
        if (Clock::now() < next) return;
        next = Clock::now() + kBetweenLooks;
        const nb::gil_scoped_acquire lock;
        if (PyErr_CheckSignals() != 0) throw Interrupted("interrupted by the user");
    });
    const nb::gil_scoped_release unlocked;
    work();
}

}  // namespace gputomo::python
