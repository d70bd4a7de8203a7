#include "device/cuda/session.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

namespace gputomo::device::cuda {
namespace {

/// Errors after which the context is unusable, by the driver's manual: uncorrectable ECC (214), NVLink (220), contained
/// (226), illegal address (700), launch timeout (702), destroyed context (709), assert (710), unknown (999). Errors 714
/// to 719 are hardware stack, illegal instruction, misaligned address, address space, PC, launch failure.
constexpr std::array kFatal{214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999};

/// The host spins for short kernels, because sleeping would add its own 50 us to every launch, and sleeps for longer
/// ones.
constexpr auto kSpin = std::chrono::milliseconds(5);
constexpr auto kNap = std::chrono::microseconds(50);

}  // namespace

Session::Session(std::shared_ptr<const Driver> driver, int index)
    : driver_(std::move(driver)), index_(index), device_(driver_->device(index)) {
    check(call().primary_context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
    try {
        enter("cuCtxSetCurrent");
        check(call().stream_create(&stream_, abi::kStreamNonBlocking), "cuStreamCreate");
    } catch (...) {
        call().primary_context_release(device_);
        throw;
    }
}

Session::~Session() {
    // A context that an error destroyed is made anew by the next session. Where a kernel has not ended, the reset would
    // wait for it.
    if (can_be_reset_ && call().primary_context_reset != nullptr) call().primary_context_reset(device_);
    if (!try_enter()) return;
    call().stream_destroy(stream_);
    call().primary_context_release(device_);
}

std::string Session::id() const { return fmt::format("cuda:{}", index_); }

void Session::enter(std::string_view name) const {
    if (!alive()) {
        const std::scoped_lock lock(failure_mutex_);
        throw DeviceError(fmt::format("{}: {} refused, the device can't be used any more: {}", id(), name, failure_));
    }
    driver_->check(call().context_set_current(context_), "cuCtxSetCurrent", fmt::format("{}, before {}", id(), name));
}

void Session::fail(std::string reason) {
    const std::scoped_lock lock(failure_mutex_);
    if (failed_) return;
    failure_ = std::move(reason);
    failed_ = true;
}

bool Session::try_enter() const noexcept { return alive() && call().context_set_current(context_) == abi::kSuccess; }

void Session::check(abi::Result result, std::string_view name, std::string_view context) {
    if (result == abi::kSuccess) return;
    const std::string where = context.empty() ? std::string(name) : fmt::format("{} ({})", name, context);
    const std::string message = fmt::format("{}: {} failed: {}", id(), where, driver_->describe(result));
    if (std::find(kFatal.begin(), kFatal.end(), result) == kFatal.end()) throw DeviceError(message);
    fail(message);
    can_be_reset_ = true;
    throw DeviceError(message + "; the device's context does not survive this error, start the program again");
}

template <class Query>
void Session::poll(Query query, const Wait& wait) {
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
        const abi::Result result = query();
        if (result != abi::kNotReady) return check(result, wait.call, wait.context);
        const auto waited = std::chrono::steady_clock::now() - start;
        if (waited > wait.limit) {
            const std::string message =
                fmt::format("{} did not end within its time limit of {} ms", wait.context, wait.limit.count());
            fail(message);
            throw TimeLimitError(
                fmt::format("{}: {}; the device can't be used again before this program has ended", id(), message));
        }
        if (waited > kSpin) std::this_thread::sleep_for(kNap);
    }
}

void Session::wait(abi::Event event, const Wait& wait) {
    poll([&] { return call().event_query(event); }, wait);
}

void Session::wait_for_stream(const Wait& wait) {
    poll([&] { return call().stream_query(stream_); }, wait);
}

}  // namespace gputomo::device::cuda
