#include "costs/calendar.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::costs {
namespace {

/// Cycles below this are rounding errors.
constexpr double kNothing = 1e-9;
/// Slots of a calendar that has no work. Most calendars never need more, and large ones take long to make.
constexpr std::size_t kFirstSlots = 256;

}  // namespace

Calendar::Calendar(std::uint32_t slots, bool long_services)
    : most_(std::bit_ceil(slots)), slots_(std::min(most_, kFirstSlots)), long_services_(long_services) {}

Calendar::Slot& Calendar::slot(std::int64_t number) {
    const auto low = static_cast<std::uint32_t>(number);
    for (;;) {
        Slot& s = slots_[low & (slots_.size() - 1)];
        if (s.number == low) return s;
        if (s.number == kNever || slots_.size() == most_) {
            s = {0, low, 0};
            return s;
        }
        grow();
    }
}

/// Slots that have been open keep their work, each where a calendar of all slots would have it.
void Calendar::grow() {
    std::vector<Slot> before(2 * slots_.size());
    before.swap(slots_);
    for (const Slot& s : before)
        if (s.number != kNever) slots_[s.number & (slots_.size() - 1)] = s;
}

std::int64_t Calendar::first_open(std::int64_t number) {
    const std::int64_t from = number;
    while (slot(number).skip != 0) {
        number += slot(number).skip;
        newest_ = std::max(newest_, number);
    }
    if (number - from >= static_cast<std::int64_t>(most_)) return number;  // slots on the way are closed
    // Each slot on the way now leads to the open one at once. Otherwise each request walks through a long queue.
    for (std::int64_t full = from; full < number;) {
        Slot& passed = slot(full);
        const std::int64_t next = full + passed.skip;
        passed.skip = static_cast<std::uint32_t>(number - full);
        full = next;
    }
    return number;
}

double Calendar::reserve(double now, double service) {
    const auto oldest = newest_ - static_cast<std::int64_t>(most_) + 1;
    auto number = std::max(static_cast<std::int64_t>(now / kSlot), oldest);
    newest_ = std::max(newest_, number);
    number = first_open(number);
    const double start = std::max(now, static_cast<double>(number) * kSlot + slot(number).used);
    if (long_services_) slot(number).used = start - static_cast<double>(number) * kSlot;
    double left = service;
    // Work longer than the calendar skips the slots that it fills completely.
    if (const auto whole = static_cast<std::int64_t>(left / kSlot) - static_cast<std::int64_t>(most_); whole > 0) {
        number += whole;
        left -= static_cast<double>(whole) * kSlot;
        newest_ = std::max(newest_, number);
        number = first_open(number);
    }
    for (;;) {
        Slot& s = slot(number);
        const double taken = std::min(left, kSlot - s.used);
        s.used += taken;
        left -= taken;
        busy_until_ = std::max(busy_until_, static_cast<double>(number) * kSlot + s.used);
        if (kSlot - s.used < kNothing) s.skip = 1;
        if (left < kNothing) return start;
        newest_ = std::max(newest_, number + 1);
        number = first_open(number + 1);
    }
}

}  // namespace gputomo::costs
