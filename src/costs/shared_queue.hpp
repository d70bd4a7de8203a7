// Accesses to shared memory that wait for its banks while the warps that issued them go on.
//
// Each scheduler has a queue. Loads go on from there into a queue of the SM, where there is room. A warp whose access
// finds its scheduler's queue full does not issue it. Found on an H200 with the experiment `shared_queue`.
#pragma once

#include "machine/machine.hpp"

#include <cstddef>
#include <vector>

namespace gputomo::costs {

struct SharedQueueSpec {
    std::size_t of_scheduler = 0;  ///< accesses of one scheduler's warps; 0: a warp waits until the banks are free
    std::size_t loads_of_sm = 0;   ///< further loads, of all schedulers
};
[[nodiscard]] SharedQueueSpec shared_queue_spec_of(const machine::SharedMemory& shared);

/// The queues of one SM. The banks serve accesses in the order of issue. Times are cycles.
class SharedQueue {
public:
    SharedQueue(const SharedQueueSpec& spec, std::size_t schedulers);

    [[nodiscard]] bool described() const { return !queues_.empty(); }

    /// When the scheduler's queue has room for its next access. Needs a described queue.
    [[nodiscard]] double room(std::size_t scheduler) const { return queues_[scheduler].oldest(); }

    /// An access issues at `issued`, and the banks begin with it at `starts`.
    void note(std::size_t scheduler, bool load, double issued, double starts);

private:
    /// The times at which the last entries left, as many as the queue has.
    class Entries {
    public:
        explicit Entries(std::size_t count) : left_(count, 0.0) {}
        [[nodiscard]] double oldest() const { return left_[next_]; }
        void add(double leaves) {
            left_[next_] = leaves;
            next_ = next_ + 1 == left_.size() ? 0 : next_ + 1;
        }

    private:
        std::vector<double> left_;
        std::size_t next_ = 0;
    };

    std::vector<Entries> queues_;  ///< by scheduler; empty where the description has none
    std::vector<Entries> loads_;   ///< of the SM: one queue, or none
    std::vector<double> last_;     ///< by scheduler: when the entry before left
};

}  // namespace gputomo::costs
