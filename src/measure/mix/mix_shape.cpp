#include "measure/mix/mix_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

namespace gputomo::measure {
namespace {

struct AccessFacts {
    MixAccess access;
    std::string_view name;
    std::string_view narrow;  ///< of 32 bits
    std::string_view wide;    ///< of a whole pointer; the kinds that have one read lines
    std::string_view opcode;
    int bytes;
    /// Most accesses of a chain in a loop iteration. Accesses are slow, so that few of them hide the loop's cost, and
    /// few let the last iteration end soon. For streams the limit applies to all chains together. Iterations are then
    /// so short that the available lines last for a window of many iterations, however many chains share them.
    int most_in_loop;
};

constexpr int kAny = std::numeric_limits<int>::max();
/// A dependent MMA waits for longer than the 15 cycles that one instruction can encode. The compiler therefore adds an
/// instruction that only waits (`NOP`) after each.
constexpr int kMostMma = kLoopLength / 2;
constexpr std::array kFacts{
    AccessFacts{MixAccess::global, "global", "ld.global.b32", "ld.global.b64", "LDG", 4, 16},
    AccessFacts{MixAccess::shared, "shared", "ld.shared.b32", "", "LDS", 4, kAny},
    AccessFacts{MixAccess::sfu, "sfu", "rsqrt.approx.ftz.f32", "", "MUFU", 0, kAny},
    AccessFacts{MixAccess::l1, "l1", "ld.global.ca.b32", "ld.global.ca.b64", "LDG", 4, 256},
    AccessFacts{MixAccess::l2, "l2", "ld.global.cg.b32", "ld.global.cg.b64", "LDG", 4, 64},
    AccessFacts{MixAccess::shared_conflict, "shared_conflict", "ld.shared.b32", "", "LDS", 4, kAny},
    AccessFacts{MixAccess::tensor, "tensor", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "", "HMMA", 0,
                kMostMma},
};

const AccessFacts& facts_of(MixAccess access) { return kFacts[static_cast<std::size_t>(access)]; }

}  // namespace

std::span<const MixAccess> mix_accesses() {
    static constexpr auto kAll = [] {
        std::array<MixAccess, kFacts.size()> all{};
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = kFacts[i].access;
        return all;
    }();
    return kAll;
}

std::string_view name_of(MixAccess access) { return facts_of(access).name; }

std::string mix_access_names() {
    std::vector<std::string_view> names;
    for (const auto& facts : kFacts) names.push_back(facts.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<MixAccess> mix_access_named(std::string_view name) {
    const auto found = std::ranges::find(kFacts, name, &AccessFacts::name);
    return found == kFacts.end() ? std::nullopt : std::optional(found->access);
}

bool MixShape::reads_lines() const { return !arithmetic_only && !facts_of(access).wide.empty(); }

bool MixShape::reads_shared() const {
    return !arithmetic_only && (access == MixAccess::shared || access == MixAccess::shared_conflict);
}

std::string_view MixShape::instruction() const { return facts_of(access).narrow; }

std::string_view MixShape::wide_instruction() const { return facts_of(access).wide; }

int MixShape::adds() const {
    if (arithmetic_only) return 1;
    return alpha - (reads_lines() && alpha > 0 && !moves_vanish ? 1 : 0);
}

int MixShape::groups() const {
    const int fitting_groups = loop_length / (group() * chains);
    const int sharing = access == MixAccess::global ? chains : 1;
    return std::max(1, arithmetic_only
                           ? fitting_groups
                           : std::min(fitting_groups, facts_of(access).most_in_loop / (accesses * sharing)));
}

std::string MixShape::name() const {
    if (arithmetic_only) return fmt::format("mix_adds_x{}", chains);
    return fmt::format("mix_{}_{}_{}_x{}", name_of(access), accesses, alpha, chains);
}

std::vector<CodeExpectation> expected_code(const MixShape& shape) {
    const int groups = shape.groups() * shape.chains, adds = groups * shape.adds();
    const AccessFacts& facts = facts_of(shape.access);
    std::vector<CodeExpectation> expected;
    if (adds > 0) expected.emplace_back(LoopedCode{{"FADD"}, adds});
    if (shape.arithmetic_only) return expected;
    const int wide = shape.wide_loads();
    if (wide > 0) expected.emplace_back(LoopedCode{{facts.opcode, kMixPointerBytes}, groups * wide});
    if (wide < shape.accesses)
        expected.emplace_back(LoopedCode{{facts.opcode, facts.bytes}, groups * (shape.accesses - wide)});
    return expected;
}

}  // namespace gputomo::measure
