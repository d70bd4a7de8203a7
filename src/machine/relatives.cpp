#include "machine/relatives.hpp"

#include <array>
#include <string_view>

namespace gputomo::machine {
namespace {

/// A family of mnemonics, by prefix and suffix. A member without an entry of its own costs as much as the first of
/// `keys` that is described.
struct Family {
    std::string_view prefix;
    std::string_view suffix;
    std::array<std::string_view, 4> keys;
};

constexpr Family kFamilies[] = {
    {"mul.wide", "", {"mul.wide.s32", "mul.lo.s32", "mul.lo.u32", ""}},
    {"mul.lo", "", {"mul.lo.s32", "mul.lo.u32", "", ""}},
    {"mul.hi", "", {"mul.hi.u32", "mul.hi.s32", "mul.lo.s32", ""}},
    {"mad.wide", "", {"mad.wide.s32", "mad.lo.s32", "mad.lo.u32", ""}},
    {"mad.hi", "", {"mad.hi.s32", "mad.lo.s32", "mad.lo.u32", ""}},
    {"mad", "f32", {"fma.rn.f32", "mad.f32", "add.f32", ""}},
    {"mad", "f64", {"fma.rn.f64", "add.f64", "", ""}},
    {"mad", "", {"mad.lo.s32", "mad.lo.u32", "", ""}},
    {"fma", "f32", {"fma.rn.f32", "mad.f32", "add.f32", ""}},
    {"fma", "f64", {"fma.rn.f64", "add.f64", "", ""}},
    {"div", "f32", {"div.full.f32", "div.approx.f32", "rsqrt.approx.f32", ""}},
    {"div", "f64", {"div.rn.f64", "add.f64", "", ""}},
    {"div", "", {"div.u32", "div.s32", "mul.lo.s32", ""}},
    {"rem", "", {"rem.u32", "rem.s32", "mul.lo.s32", ""}},
    {"rsqrt", "", {"rsqrt.approx.f32", "", "", ""}},
    {"rcp", "", {"rcp.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"sqrt", "", {"sqrt.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"sin", "", {"sin.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"cos", "", {"cos.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"lg2", "", {"lg2.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"ex2", "", {"ex2.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"tanh", "", {"tanh.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"mul", "f32", {"mul.f32", "add.f32", "", ""}},
    {"mul", "f64", {"mul.f64", "add.f64", "", ""}},
    {"add", "f64", {"add.f64", "", "", ""}},
    {"sub", "f64", {"sub.f64", "add.f64", "", ""}},
    {"m", "f64", {"add.f64", "", "", ""}},
    {"add", "f32", {"add.f32", "", "", ""}},
    {"sub", "f32", {"add.f32", "", "", ""}},
    // All others run on the integer pipeline: moves, logic, comparisons, conversions, shuffles, addresses.
    {"", "", {"add.s32", "add.u32", "add.f32", ""}},
};

}  // namespace

const std::pair<const std::string, Operation>* nearest_operation(const Machine& machine, const std::string& mnemonic) {
    const auto row_named = [&](const std::string& key) {
        const auto row = machine.operations.find(key);
        return row == machine.operations.end() ? nullptr : &*row;
    };
    if (const auto* own = row_named(mnemonic)) return own;
    for (const auto& family : kFamilies) {
        if (!mnemonic.starts_with(family.prefix) || !mnemonic.ends_with(family.suffix)) continue;
        for (const auto key : family.keys)
            if (const auto* row = row_named(std::string(key))) return row;
    }
    return nullptr;
}

}  // namespace gputomo::machine
