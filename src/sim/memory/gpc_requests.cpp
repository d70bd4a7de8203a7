#include "sim/memory/gpc_requests.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::sim {
namespace {

/// Slots of the port's calendar: queues of up to 16,384 cycles, because all SMs of a GPC wait there.
constexpr std::uint32_t kGpcPortSlots = 1024;
/// Requests that are remembered. Copies book all of their lines when they issue: those of 18 SMs with 64 KiB each are
/// 9,216 lines. Where two lines collide, loads of the earlier one are no longer merged.
constexpr std::size_t kKeptRequests = 1 << 14;

/// SMs of a GPC have neighbouring numbers, and no GPC has 64 of them.
std::uint64_t bit_of_sm(std::uint32_t sm) { return std::uint64_t{1} << (sm % 64); }

}  // namespace

GpcRequests::GpcRequests(const GpcSpec& spec)
    : spec_(spec), port_(kGpcPortSlots), requests_(spec.merged > 1 ? kKeptRequests : 0) {}

GpcRequests::Request& GpcRequests::place_of(std::uint64_t line) {
    return requests_[(line * 0x9E3779B97F4A7C15U >> 40) & (kKeptRequests - 1)];
}

std::optional<double> GpcRequests::join(const LineLoad& load, double now) {
    if (requests_.empty()) return {};
    Request& request = place_of(load.line);
    if (request.line != load.line || (load.sectors & ~request.sectors) != 0 || request.loads >= spec_.merged ||
        std::abs(now - request.at) > spec_.within)
        return {};
    ++request.loads;
    double done = request.done;
    if ((request.sms & bit_of_sm(load.sm)) != 0 && spec_.cycles_per_byte > 0)
        done = std::max(done, port_.reserve(now, service(load)));
    request.sms |= bit_of_sm(load.sm);
    return std::max(now, done);
}

void GpcRequests::add(const LineLoad& load, double now, double done) {
    if (requests_.empty()) return;
    place_of(load.line) = {
        .line = load.line, .sectors = load.sectors, .at = now, .done = done, .sms = bit_of_sm(load.sm), .loads = 1};
}

}  // namespace gputomo::sim
