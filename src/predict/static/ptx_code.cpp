#include "predict/static/ptx_code.hpp"

#include "predict/static/lane_stride.hpp"
#include "predict/static/load_order.hpp"
#include "predict/static/ptx_trip_counts.hpp"
#include "ptx/instructions.hpp"
#include "ptx/names.hpp"
#include "ptx/printer.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gputomo::predict {
namespace {

using ptx::Opcode;

/// Instructions whose cost no machine description holds.
constexpr std::array kUnpredictable = {Opcode::brx,      Opcode::call,     Opcode::tex,
                                       Opcode::mma,      Opcode::wgmma,    Opcode::ldmatrix,
                                       Opcode::cp_async, Opcode::mbarrier, Opcode::nanosleep};

const ptx::Kernel& kernel_named(const ptx::Module& module, std::string_view name, std::string_view origin) {
    std::vector<std::string_view> names;
    for (const auto& kernel : module.kernels) {
        if (kernel.name == name) return kernel;
        names.emplace_back(kernel.name);
    }
    throw InputError(
        fmt::format("{}: no kernel '{}'; expected {}", origin, name,
                    names.empty() ? "a file with an .entry" : fmt::format("one of {}", fmt::join(names, ", "))));
}

class PtxTranslator {
public:
    PtxTranslator(const ptx::Kernel& kernel, std::string_view origin)
        : kernel_(kernel), origin_(origin), values_(lane_values(kernel)) {}

    [[nodiscard]] Code translate() const {
        Code code{.kernel = kernel_.name,
                  .origin = std::string(origin_),
                  .instructions = {},
                  .labels = {},
                  .trip_counts = trip_counts(kernel_),
                  .registers = kernel_.registers.size(),
                  .shared_bytes = 0,
                  .assumptions = {}};
        for (const auto& variable : kernel_.variables)
            if (variable.space == ptx::Space::shared) code.shared_bytes += variable.size.count();
        for (const auto& instruction : kernel_.body) code.instructions.push_back(translated(instruction));
        for (const auto& [name, index] : kernel_.labels) code.labels.insert({index, name});
        hoist_loads(code);
        code.assumptions.emplace_back(
            "loads of parameters, moves and address conversions take no time, because the compiler removes most of "
            "them; a listing of the machine code is more exact than PTX");
        code.assumptions.emplace_back("the compiler issues loads as soon as their addresses are known");
        return code;
    }

private:
    [[nodiscard]] Instruction translated(const ptx::Instruction& from) const {
        if (std::find(kUnpredictable.begin(), kUnpredictable.end(), from.opcode) != kUnpredictable.end())
            throw InputError(
                fmt::format("{}:{}: '{}' can't be predicted, because its cost is unknown; expected a kernel without it",
                            origin_, from.line, ptx::mnemonic_of(from)));
        Instruction to{.kind = kind_of(from),
                       .text = text_of(from),
                       .line = from.line,
                       .operation = ptx::mnemonic_of(from),
                       .access = access_of(from),
                       .reads = {},
                       .writes = {},
                       .guarded = from.guard.has_value(),
                       .target = 0};
        if (to.access && to.access->space == MemorySpace::constant) to.access.reset();
        if (from.guard) to.reads.push_back(from.guard->predicate.index);
        for (const auto& operand : from.sources) collect(operand, to.reads);
        for (const auto& operand : from.destinations) collect(operand, to.writes);
        if (to.kind == Kind::branch)
            to.target = kernel_.labels.at(std::get<ptx::SymbolRef>(from.sources.at(0).value).name);
        return to;
    }

    [[nodiscard]] Kind kind_of(const ptx::Instruction& from) const {
        switch (from.opcode) {
            case Opcode::bra: return Kind::branch;
            case Opcode::ret:
            case Opcode::exit:
            case Opcode::trap: return Kind::exit;
            case Opcode::bar:
            case Opcode::barrier: return from.has("warp") ? Kind::arithmetic : Kind::barrier;
            case Opcode::ld:
            case Opcode::ldu:
                return from.space == ptx::Space::param      ? Kind::free
                       : from.space == ptx::Space::constant ? Kind::arithmetic
                                                            : Kind::memory;
            case Opcode::st:
            case Opcode::atom:
            case Opcode::red: return Kind::memory;
            case Opcode::cvta:
            case Opcode::prefetch:
            case Opcode::pmevent: return Kind::free;
            case Opcode::mov:
                return from.sources.empty() || !std::holds_alternative<ptx::SpecialRegister>(from.sources.front().value)
                           ? Kind::free
                           : Kind::arithmetic;
            default: return Kind::arithmetic;
        }
    }

    [[nodiscard]] std::optional<Access> access_of(const ptx::Instruction& from) const {
        const auto kind = kind_of(from);
        if (kind != Kind::memory) return std::nullopt;
        Access access{.space = space_of(from),
                      .bytes = static_cast<int>(ptx::size_of(from.type).count()) * from.vector_width,
                      .load = from.opcode != Opcode::st && from.opcode != Opcode::red,
                      .stride = {}};
        for (const auto& source : from.sources)
            if (const auto* address = std::get_if<ptx::AddressRef>(&source.value))
                access.stride = address_stride(*address, values_);
        if (access.space == MemorySpace::local) access.stride = access.bytes;  // interleaved by thread
        return access;
    }

    /// Generic addresses are assumed to be global.
    [[nodiscard]] MemorySpace space_of(const ptx::Instruction& from) const {
        if (from.space == ptx::Space::shared) return MemorySpace::shared;
        return from.space == ptx::Space::local ? MemorySpace::local : MemorySpace::global;
    }

    void collect(const ptx::Operand& operand, std::vector<std::uint32_t>& into) const {
        if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) into.push_back(reg->index);
        if (const auto* predicate = std::get_if<ptx::PredicateRef>(&operand.value))
            into.push_back(predicate->predicate.index);
        if (const auto* vector = std::get_if<ptx::VectorRef>(&operand.value))
            for (const auto& element : vector->elements) collect(element, into);
        if (const auto* address = std::get_if<ptx::AddressRef>(&operand.value))
            if (const auto* base = std::get_if<ptx::Register>(&address->base)) into.push_back(base->index);
    }

    [[nodiscard]] std::string text_of(const ptx::Instruction& from) const { return ptx::to_text(kernel_, from); }

    const ptx::Kernel& kernel_;
    std::string_view origin_;
    std::vector<LaneValue> values_;
};

}  // namespace

Code code_from_ptx(const ptx::Module& module, std::string_view kernel, std::string_view origin) {
    return PtxTranslator(kernel_named(module, kernel, origin), origin).translate();
}

}  // namespace gputomo::predict
