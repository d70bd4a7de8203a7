// Numbers streams and threads, and knows which launches a launch waits for through events.
#pragma once

#include "capture/interposer/abi.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::capture {

class Streams {
public:
    /// The number of a stream; 0 is the legacy default stream.
    [[nodiscard]] int number(abi::Stream stream);
    /// The number of the calling thread.
    [[nodiscard]] static int thread();

    void launched(abi::Stream stream, std::uint64_t launch);
    void recorded(abi::Event event, abi::Stream stream);
    void waits(abi::Stream stream, abi::Event event);
    /// The launches in other streams that the next one in this stream waits for, as a JSON list; clears them.
    [[nodiscard]] std::string take_waits(abi::Stream stream);

private:
    /// The stream that a thread has of its own is another one for each thread.
    using Key = std::pair<abi::Stream, int>;
    static Key key(abi::Stream stream) { return {stream, stream == abi::kThreadStream ? thread() : 0}; }

    std::mutex lock_;
    std::map<Key, int> numbers_;
    std::map<Key, std::uint64_t> last_launch_;
    std::map<abi::Event, std::pair<Key, std::uint64_t>> events_;
    std::map<Key, std::set<std::uint64_t>> waits_;
};

}  // namespace gputomo::capture
