#include "capture/interposer/timing.hpp"

#include "capture/interposer/driver.hpp"
#include "capture/interposer/text.hpp"

#include <unistd.h>

#include <algorithm>

namespace gputomo::capture {
namespace {

/// A loop that waits for a GPU asks this often, in microseconds: shorter keeps a processor busy.
constexpr unsigned kPollUs = 50;

}  // namespace

abi::Event Timing::event(Context& context) {
    abi::Event event = nullptr;
    if (context.free.empty()) {
        if (driver().event_create(&event, abi::kEventDefault) != abi::kSuccess) return nullptr;
        return event;
    }
    event = context.free.back();
    context.free.pop_back();
    return event;
}

Timing::Pair Timing::begin(abi::Context context, abi::Stream stream) {
    const std::scoped_lock guard(lock_);
    auto& state = contexts_[context];
    write_finished(state);
    Pair pair{event(state), event(state)};
    if (pair.start != nullptr && pair.stop != nullptr && driver().event_record(pair.start, stream) == abi::kSuccess)
        return pair;
    for (const auto unused : {pair.start, pair.stop})
        if (unused != nullptr) state.free.push_back(unused);
    return {};
}

void Timing::end(abi::Context context, abi::Stream stream, Pair pair, std::uint64_t launch, double asked_us) {
    if (pair.start == nullptr) return;
    const std::scoped_lock guard(lock_);
    const bool waited = driver().event_query(pair.start) == abi::kSuccess;
    const double host_wait_us = waited ? now_us() - asked_us : 0;
    if (driver().event_record(pair.stop, stream) == abi::kSuccess)
        contexts_[context].pending.push_back({pair, launch, host_wait_us});
    else
        contexts_[context].free.insert(contexts_[context].free.end(), {pair.start, pair.stop});
}

void Timing::drop(abi::Context context, Pair pair) {
    if (pair.start == nullptr) return;
    const std::scoped_lock guard(lock_);
    contexts_[context].free.insert(contexts_[context].free.end(), {pair.start, pair.stop});
}

void Timing::write_oldest(Context& context) {
    const auto [pair, launch, host_wait_us] = context.pending.front();
    context.pending.pop_front();
    context.free.push_back(pair.stop);
    float since_last = 0, took = 0;  // milliseconds
    const bool known = driver().event_elapsed(&took, pair.start, pair.stop) == abi::kSuccess &&
                       (context.last_start == nullptr ||
                        driver().event_elapsed(&since_last, context.last_start, pair.start) == abi::kSuccess);
    if (!known) {
        context.free.push_back(pair.start);
        return;
    }
    if (context.last_start != nullptr) context.free.push_back(context.last_start);
    context.last_start = pair.start;
    context.last_start_us += static_cast<double>(since_last) * 1e3;
    JsonLine line("time");
    line.add("launch", launch).add("start_us", context.last_start_us).add("us", static_cast<double>(took) * 1e3);
    if (host_wait_us > 0) line.add("host_wait_us", host_wait_us);
    journal_.write(line.line());
}

void Timing::write_finished(Context& context) {
    while (!context.pending.empty()) {
        const auto result = driver().event_query(context.pending.front().pair.stop);
        if (result == abi::kNotReady) return;
        if (result == abi::kSuccess)
            write_oldest(context);
        else
            context.pending.clear();  // the context is lost, and its events with it
    }
}

void Timing::write_finished() {
    const std::scoped_lock guard(lock_);
    for (auto& [handle, context] : contexts_) write_finished(context);
}

void Timing::write_all(double most_us) {
    const double until = now_us() + most_us;
    const auto pending = [&] {
        const std::scoped_lock guard(lock_);
        return std::ranges::any_of(contexts_, [](const auto& row) { return !row.second.pending.empty(); });
    };
    for (write_finished(); pending() && now_us() < until; write_finished()) usleep(kPollUs);
}

void Timing::forget() {
    const std::scoped_lock guard(lock_);
    contexts_.clear();
}

bool Timing::wait_for_earlier_work(abi::Context context, abi::Stream stream, double most_us) {
    abi::Event done = nullptr;
    {
        const std::scoped_lock guard(lock_);
        done = event(contexts_[context]);
    }
    if (done == nullptr || driver().event_record(done, stream) != abi::kSuccess) return false;
    const double until = now_us() + most_us;
    auto result = driver().event_query(done);
    for (; result == abi::kNotReady && now_us() < until; result = driver().event_query(done)) usleep(kPollUs);
    const std::scoped_lock guard(lock_);
    if (result == abi::kSuccess) contexts_[context].free.push_back(done);
    return result == abi::kSuccess;
}

}  // namespace gputomo::capture
