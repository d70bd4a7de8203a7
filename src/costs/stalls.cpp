#include "costs/stalls.hpp"

#include <numeric>

namespace gputomo::costs {
namespace {

struct StallText {
    std::string_view name, meaning;
};
constexpr std::array<StallText, kStalls> kTexts{{
    {"selected", "it issues"},
    {"wait", "the fixed latency of the instruction before"},
    {"long_scoreboard", "data of global, local or texture memory"},
    {"short_scoreboard", "data of shared memory or constants, special functions"},
    {"barrier", "the other warps of its block, at a barrier"},
    {"membar", "its own accesses to memory, at a fence"},
    {"math_pipe_throttle", "an arithmetic unit that is busy"},
    {"lg_throttle", "accesses to global or local memory that have not left yet"},
    {"mio_throttle", "shared memory or special functions that are busy"},
    {"tex_throttle", "texture units that are busy"},
    {"not_selected", "its turn, while another warp issues"},
    {"dispatch_stall", "ports of the register file"},
    {"branch_resolving", "the target of a branch"},
    {"no_instructions", "its code, which no near cache has"},
    {"sleeping", "the time that it asked to sleep"},
    {"gmma", "matrix products of its warp group"},
}};

}  // namespace

std::string_view name_of(Stall stall) { return kTexts[static_cast<std::size_t>(stall)].name; }

std::string_view meaning_of(Stall stall) { return kTexts[static_cast<std::size_t>(stall)].meaning; }

double sum_of(const StallCycles& cycles) { return std::accumulate(cycles.begin(), cycles.end(), 0.0); }

std::uint32_t StallRecord::Instruction::main_producer() const {
    const auto most = std::ranges::max_element(producers, {}, [](const auto& producer) { return producer.second; });
    return most == producers.end() ? kNoProducer : most->first;
}

void StallRecord::wait_for(Instruction& to, const IssueWait& wait, double cycles) {
    if (wait.producer == kNoProducer) return charge(to, wait.fence ? Stall::membar : Stall::wait, cycles);
    charge(to, kinds_[wait.producer].result, cycles);
    for (auto& [producer, sum] : to.producers)
        if (producer == wait.producer) {
            sum += cycles;
            return;
        }
    to.producers.emplace_back(wait.producer, cycles);
}

void StallRecord::add(const StallRecord& other) {
    if (instructions_.empty()) {
        *this = other;
        return;
    }
    for (std::size_t i = 0; i < instructions_.size() && i < other.instructions_.size(); ++i) {
        Instruction& to = instructions_[i];
        const Instruction& from = other.instructions_[i];
        to.issued += from.issued;
        for (std::size_t stall = 0; stall < kStalls; ++stall) to.cycles[stall] += from.cycles[stall];
        for (const auto& [producer, cycles] : from.producers) {
            const auto known = std::ranges::find(to.producers, producer, &std::pair<std::uint32_t, double>::first);
            if (known == to.producers.end())
                to.producers.emplace_back(producer, cycles);
            else
                known->second += cycles;
        }
    }
}

}  // namespace gputomo::costs
