// The processor time of the calling thread. Unlike wall-clock time, it does not grow while other processes use the
// host, so it says what a simulation costs.
#pragma once

#include <chrono>
#include <ctime>

namespace gputomo {

[[nodiscard]] inline std::chrono::nanoseconds thread_processor_time() {
    std::timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace gputomo
