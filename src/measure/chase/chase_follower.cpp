#include "measure/chase/chase_follower.hpp"

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

std::string_view load_of(LoadHint hint) {
    switch (hint) {
        case LoadHint::all: return "ld.global.ca.u64";
        case LoadHint::l2_only: return "ld.global.cg.u64";
        case LoadHint::none: return "ld.volatile.global.u64";
        case LoadHint::constant: return "ld.const.u64";
        case LoadHint::texture: return "tex.1d.v4.u32.s32";
    }
    return {};
}

}  // namespace

std::string_view short_name_of(LoadHint hint) {
    switch (hint) {
        case LoadHint::all: return "ca";
        case LoadHint::l2_only: return "cg";
        case LoadHint::none: return "volatile";
        case LoadHint::constant: return "constant";
        case LoadHint::texture: return "texture";
    }
    return {};
}

ChaseFollower::ChaseFollower(ptx::KernelBuilder& k, LoadHint hint, Reg start, Reg texture)
    : k_(k), hint_(hint), texture_(texture), at_(k.reg(hint == LoadHint::texture ? Type::s32 : Type::u64)) {
    if (hint == LoadHint::texture) {
        k("cvt.s32.u64", at_, start);
        rest_ = k.regs(Type::s32, 3);
    } else {
        k("mov.u64", at_, start);
    }
    if (hint != LoadHint::constant) return;
    // Adding the thread number, which is 0, hides from the compiler that all threads share the address. Loads from a
    // shared address take another path.
    const Reg thread = k.reg(Type::u64);
    k("cvt.u64.u32", thread, k.special(SpecialRegister::tid_x));
    k("add.u64", at_, at_, thread);
}

void ChaseFollower::load() {
    if (hint_ == LoadHint::texture)
        k_(load_of(hint_), ptx::Vec{at_, rest_[0], rest_[1], rest_[2]}, Mem{texture_}, ptx::Vec{at_});
    else
        k_(load_of(hint_), at_, Mem{at_});
}

void ChaseFollower::store(const Mem& to) {
    k_(hint_ == LoadHint::texture ? "st.global.u32" : "st.global.u64", to, at_);
}

void ChaseFollower::low(Reg to) {
    if (hint_ == LoadHint::texture)
        k_("mov.b32", to, at_);
    else
        k_("cvt.u32.u64", to, at_);
}

}  // namespace gputomo::measure
