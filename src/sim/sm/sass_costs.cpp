#include "sim/sm/sass_costs.hpp"

#include "sass/form.hpp"
#include "sim/memory/description.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace gputomo::sim {
namespace {

using Opcode = sass::Operation;

/// Operations that one unit executes alike. `like` is a PTX operation that compiles to one of them; where it is empty,
/// the unit itself was timed with operations of this family.
struct Family {
    std::string_view unit;
    std::string_view like;
    bool timed = true;  ///< false: nothing of this family was timed, and what the row names is assumed
    std::vector<Opcode> operations;
};

/// The units have the names of pipelines that scans give. The unit "sp" adds and multiplies floats, and "int" does
/// integers and logic. The unit "sfu" is the multi-function unit, and "dpu" does double precision. The unit "lanes"
/// exchanges values between lanes, and "tensor" multiplies matrices.
const std::vector<Family>& families() {
    static const std::vector<Family> rows{
        {"sp", "add.f32", true, {Opcode::FADD}},
        {"sp", "mul.f32", true, {Opcode::FMUL}},
        {"sp", "fma.rn.f32", true, {Opcode::FFMA}},
        {"sp", "mad.lo.u32", true, {Opcode::IMAD}},
        {"sp", "dp4a.s32.s32", true, {Opcode::IDP}},
        {"sp", "add.f16x2", true, {Opcode::HADD2}},
        {"sp", "mul.f16x2", true, {Opcode::HMUL2}},
        {"sp", "fma.rn.f16x2", true, {Opcode::HFMA2}},
        {"int", "lop3.b32", true, {Opcode::LOP3}},
        {"int", "shf.l.wrap.b32", true, {Opcode::SHF}},
        {"int", "prmt.b32", true, {Opcode::PRMT}},
        {"int", "max.f32", true, {Opcode::FMNMX}},
        {"int", "max.s32", true, {Opcode::VIMNMX}},
        {"int", "sad.u32", true, {Opcode::VABSDIFF}},
        {"int", "min.f16x2", true, {Opcode::HMNMX2}},
        {"int", "cvt.rn.f32.s32", true, {Opcode::I2FP}},
        // Additions, comparisons and selections were timed together with others of their unit.
        {"int",
         "",
         true,
         {Opcode::IADD3, Opcode::ISETP, Opcode::FSETP, Opcode::SEL, Opcode::FSEL, Opcode::IABS, Opcode::VIADD}},
        {"int", "", false, {Opcode::MOV,    Opcode::LEA,       Opcode::LEPC,    Opcode::SGXT,      Opcode::BMSK,
                            Opcode::PLOP3,  Opcode::P2R,       Opcode::R2P,     Opcode::FSET,      Opcode::HSET2,
                            Opcode::HSETP2, Opcode::VIADDMNMX, Opcode::VIMNMX3, Opcode::VABSDIFF4, Opcode::F2FP,
                            Opcode::F2IP,   Opcode::I2I,       Opcode::I2IP,    Opcode::VOTE,      Opcode::VOTEU,
                            Opcode::CLMAD,  Opcode::BMOV,      Opcode::ELECT}},
        {"dpu", "add.f64", true, {Opcode::DADD}},
        {"dpu", "mul.f64", true, {Opcode::DMUL}},
        {"dpu", "fma.rn.f64", true, {Opcode::DFMA}},
        {"dpu", "", true, {Opcode::DSETP}},
        {"sfu", "ex2.approx.ftz.f32", true, {Opcode::MUFU}},
        {"sfu", "cvt.rzi.s32.f32", true, {Opcode::F2I}},
        {"sfu", "cvt.rn.f64.s64", true, {Opcode::I2F}},
        {"sfu", "popc.b32", true, {Opcode::POPC}},
        {"sfu", "bfind.u32", true, {Opcode::FLO}},
        {"sfu", "brev.b32", true, {Opcode::BREV}},
        {"sfu", "cvt.rni.f32.f32", true, {Opcode::FRND}},
        {"sfu",
         "",
         false,
         {Opcode::F2F, Opcode::S2R, Opcode::S2UR, Opcode::B2R, Opcode::R2UR, Opcode::FCHK, Opcode::QSPC}},
        {"lanes", "shfl.sync.bfly.b32", true, {Opcode::SHFL}},
        {"lanes", "match.any.sync.b32", true, {Opcode::MATCH}},
        {"lanes", "redux.sync.add.u32", false, {Opcode::REDUX, Opcode::MOVM}},
        {"tensor", "", true, {Opcode::HMMA}},
        {"tensor", "", false, {Opcode::IMMA, Opcode::BMMA, Opcode::DMMA}},
    };
    return rows;
}

/// Instructions that take a scheduler's slot and no unit, or whose time other parts of the simulator know.
constexpr Opcode kWithoutUnit[] = {
    Opcode::NOP,    Opcode::BRA,       Opcode::BRX,    Opcode::CALL,          Opcode::RET,     Opcode::EXIT,
    Opcode::BSSY,   Opcode::BSYNC,     Opcode::BREAK,  Opcode::WARPSYNC,      Opcode::YIELD,   Opcode::BAR,
    Opcode::BPT,    Opcode::NANOSLEEP, Opcode::DEPBAR, Opcode::LDGDEPBAR,     Opcode::CS2R,    Opcode::LD,
    Opcode::LDG,    Opcode::LDS,       Opcode::LDL,    Opcode::LDC,           Opcode::ULDC,    Opcode::LDSM,
    Opcode::ST,     Opcode::STG,       Opcode::STS,    Opcode::STL,           Opcode::STSM,    Opcode::LDGSTS,
    Opcode::ATOM,   Opcode::ATOMG,     Opcode::ATOMS,  Opcode::REDG,          Opcode::MEMBAR,  Opcode::CCTL,
    Opcode::ERRBAR, Opcode::CGAERRBAR, Opcode::FENCE,  Opcode::ENDCOLLECTIVE, Opcode::PREEXIT, Opcode::ACQBULK,
    Opcode::TEX,    Opcode::TLD,       Opcode::TLD4,   Opcode::SYNCS,         Opcode::ARRIVES, Opcode::UBLKCP};

const Family* family_of(Opcode operation) {
    for (const Family& row : families())
        if (std::ranges::find(row.operations, operation) != row.operations.end()) return &row;
    return nullptr;
}

/// IMAD with 64-bit results: half of what was timed is another instruction.
constexpr std::uint16_t kImadWide = 0x025, kImadHigh = 0x027;

struct Found {
    Cost cost;
    std::string assumption;  ///< empty where a scan timed it
};

class Finder {
public:
    Finder(const machine::Machine& machine, const CostModel& model) : machine_(machine), model_(model) {}

    [[nodiscard]] Found find(const sass::Instruction& instruction) const {
        if (std::ranges::find(kWithoutUnit, instruction.operation) != std::end(kWithoutUnit)) return {};
        const Family* const row = family_of(instruction.operation);
        if (row == nullptr) {
            Found found{.cost = on_unit("int", {})};
            found.cost.units.clear();
            found.cost.issue_slots = 1;
            found.assumption = fmt::format("no unit, and a latency of {:.0f} cycles", found.cost.last_latency);
            return found;
        }
        std::string_view like = row->like;
        bool timed = row->timed;
        const auto opcode = instruction.form->row->opcode;
        if (instruction.operation == Opcode::IMAD && (opcode == kImadHigh || opcode == kImadWide)) {
            like = "mul.hi.u32";
            timed = opcode == kImadHigh;
        }
        Found found{.cost = on_unit(row->unit, like)};
        const bool has_like = measured(like) != nullptr;
        if (!like.empty() && has_like && !timed) found.assumption = fmt::format("as {}", like);
        if (like.empty() || !has_like) {
            if (timed && model_.pipeline_named(row->unit)) return found;
            found.assumption =
                fmt::format("unit {}, at its rate and latency of {:.0f} cycles", row->unit, found.cost.last_latency);
        }
        return found;
    }

private:
    /// The described operation, where it is a single machine instruction or of unknown length.
    [[nodiscard]] const machine::Operation* measured(std::string_view like) const {
        if (like.empty()) return nullptr;
        const auto row = machine_.operations.find(std::string(like));
        return row != machine_.operations.end() && row->second.latency ? &row->second : nullptr;
    }

    [[nodiscard]] Cost on_unit(std::string_view unit, std::string_view like) const {
        Cost cost;
        const machine::Operation* const row = measured(like);
        const auto pipeline = model_.pipeline_named(unit);
        double lanes = pipeline ? model_.lanes_of(*pipeline) : 0;
        if (row != nullptr && row->throughput && row->instructions.value_or(1) == 1)
            lanes = pipeline ? std::min(lanes, *row->throughput) : *row->throughput;
        double latency = model_.latency_of(unit).value_or(model_.latency_of("int").value_or(kDefaultLatency));
        if (row != nullptr && row->instructions.value_or(1) == 1) latency = static_cast<double>(*row->latency);
        cost.latency = cost.last_latency = latency;
        cost.on_cores = unit == "sp" || unit == "int";
        if (pipeline) cost.issue_slots = model_.slots_of_unit(*pipeline), cost.to_cores = model_.to_cores_of(*pipeline);
        const auto index = pipeline ? pipeline : model_.machine_unit(unit);
        if (lanes > 0 && index) {
            const double whole = model_.is_shared(*index) ? lanes : lanes / model_.schedulers();
            cost.units.push_back({static_cast<std::uint16_t>(*index), static_cast<double>(kWarpSize) / whole});
        }
        return cost;
    }

    /// Cycles of an operation where the description has no unit of integers either; every GPU since Volta has 4.
    static constexpr double kDefaultLatency = 4;

    const machine::Machine& machine_;
    const CostModel& model_;
};

bool equal(const Cost& a, const Cost& b) {
    return a.latency == b.latency && a.to_cores == b.to_cores && a.issue_slots == b.issue_slots &&
           a.on_cores == b.on_cores && a.units.size() == b.units.size() &&
           std::ranges::equal(a.units, b.units, [](const UnitUse& x, const UnitUse& y) {
               return x.unit == y.unit && x.interval == y.interval;
           });
}

}  // namespace

SassCosts sass_costs_of(const machine_code::MachineProgram& program, const machine::Machine& machine,
                        const CostModel& model) {
    const Finder finder(machine, model);
    SassCosts costs;
    for (const machine_code::Step& step : program.steps) {
        const bool known = step.instruction.form != nullptr;
        const Found found = known ? finder.find(step.instruction) : Found{};
        auto same = std::ranges::find_if(costs.costs, [&](const Cost& cost) { return equal(cost, found.cost); });
        if (same == costs.costs.end()) same = costs.costs.insert(costs.costs.end(), found.cost);
        costs.cost_of.push_back(static_cast<std::uint16_t>(same - costs.costs.begin()));
        std::uint16_t assumed = SassCosts::kTimed;
        if (!found.assumption.empty()) {
            const auto opcode = step.instruction.form->row->opcode;
            std::string name(sass::name_of(step.instruction.operation));
            if (step.instruction.operation == Opcode::IMAD && opcode == kImadWide) name += ".WIDE";
            const AssumedCost row{std::move(name), found.assumption};
            auto at = std::ranges::find(costs.assumptions, row);
            if (at == costs.assumptions.end()) at = costs.assumptions.insert(costs.assumptions.end(), row);
            assumed = static_cast<std::uint16_t>(at - costs.assumptions.begin());
        }
        costs.assumed_of.push_back(assumed);
    }
    return costs;
}

}  // namespace gputomo::sim
