// Times launches with events, without waiting for them.
#pragma once

#include "capture/interposer/abi.hpp"
#include "capture/interposer/journal.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

namespace gputomo::capture {

class Timing {
public:
    explicit Timing(Journal& journal) : journal_(journal) {}

    struct Pair {
        abi::Event start = nullptr, stop = nullptr;
    };
    /// Records an event before a launch. Without one, the launch is not timed.
    [[nodiscard]] Pair begin(abi::Context context, abi::Stream stream);
    /// Records an event after it. `asked_us` is when the host recorded the one before. If the GPU has reached that
    /// already, it was ready before the launch came, and the time contains waiting for the host.
    void end(abi::Context context, abi::Stream stream, Pair pair, std::uint64_t launch, double asked_us);
    /// Takes back the events of a launch that failed.
    void drop(abi::Context context, Pair pair);

    /// Writes the times of launches that have ended.
    void write_finished();
    /// Waits for at most this time for launches to end, and writes their times.
    void write_all(double most_us);
    /// Forgets all events: contexts are about to be destroyed.
    void forget();
    /// Waits until everything that a launch in this stream would wait for is done, for at most this time.
    [[nodiscard]] bool wait_for_earlier_work(abi::Context context, abi::Stream stream, double most_us);

private:
    struct Pending {
        Pair pair;
        std::uint64_t launch;
        double host_wait_us = 0;  ///< at most; 0: the GPU did not wait
    };
    /// Launches of one context in order.
    struct Context {
        std::deque<Pending> pending;
        std::vector<abi::Event> free;
        abi::Event last_start = nullptr;  ///< of the launch that was written last
        double last_start_us = 0;         ///< since the first launch
    };
    abi::Event event(Context& context);
    void write_finished(Context& context);
    void write_oldest(Context& context);

    Journal& journal_;
    std::mutex lock_;
    std::map<abi::Context, Context> contexts_;
};

}  // namespace gputomo::capture
