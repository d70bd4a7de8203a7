#include "units/workers.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace gputomo {

void spread(int count, unsigned threads, const std::function<void(int)>& work,
            const std::function<void(int done)>& progress) {
    std::atomic<int> next = 0;
    std::mutex lock;
    int done = 0;
    std::exception_ptr error;
    const auto worker = [&] {
        for (int i = next++; i < count; i = next++) {
            try {
                work(i);
                const std::lock_guard hold(lock);
                if (progress) progress(++done);
            } catch (...) {
                const std::lock_guard hold(lock);
                if (!error) error = std::current_exception();
                next = count;
            }
        }
    };
    std::vector<std::jthread> helpers;
    for (unsigned t = 1; t < threads; ++t) helpers.emplace_back(worker);
    worker();
    helpers.clear();
    if (error) std::rethrow_exception(error);
}

}  // namespace gputomo
