#include "capture/interposer/streams.hpp"

#include <atomic>

namespace gputomo::capture {

int Streams::number(abi::Stream stream) {
    if (stream == abi::kLegacyStream) return 0;
    const std::scoped_lock guard(lock_);
    return numbers_.try_emplace(key(stream), static_cast<int>(numbers_.size()) + 1).first->second;
}

int Streams::thread() {
    static std::atomic<int> threads = 0;
    static thread_local const int number = threads++;
    return number;
}

void Streams::launched(abi::Stream stream, std::uint64_t launch) {
    const std::scoped_lock guard(lock_);
    last_launch_[key(stream)] = launch;
}

void Streams::recorded(abi::Event event, abi::Stream stream) {
    const std::scoped_lock guard(lock_);
    const auto last = last_launch_.find(key(stream));
    if (last == last_launch_.end())
        events_.erase(event);
    else
        events_[event] = {key(stream), last->second};
}

void Streams::waits(abi::Stream stream, abi::Event event) {
    const std::scoped_lock guard(lock_);
    const auto found = events_.find(event);
    if (found != events_.end() && found->second.first != key(stream)) waits_[key(stream)].insert(found->second.second);
}

std::string Streams::take_waits(abi::Stream stream) {
    const std::scoped_lock guard(lock_);
    std::string list;
    for (const auto launch : waits_[key(stream)]) list += (list.empty() ? "" : ",") + std::to_string(launch);
    waits_.erase(key(stream));
    return "[" + list + "]";
}

}  // namespace gputomo::capture
