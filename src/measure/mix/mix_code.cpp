#include "measure/mix/mix_code.hpp"

#include <span>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Registers of a thread for the accumulators and both factors of an MMA (PTX ISA 9.7.14.4).
constexpr int kSums = 4, kFactorsLeft = 4, kFactorsRight = 2;

}  // namespace

MixCode::MixCode(ptx::KernelBuilder& k, const MixShape& shape)
    : k_(k),
      shape_(shape),
      values_(k.regs(Type::b32, shape.chains)),
      addresses_(k.regs(Type::b64, shape.reads_lines() ? shape.chains : 0)),
      upper_(k.reg(Type::b32)),
      word_(k.reg(Type::u32)),
      sums_(k.regs(Type::b32, shape.uses_mma() ? shape.chains * (kSums - 1) : 0)),
      factors_(k.regs(Type::b32, shape.uses_mma() ? kFactorsLeft + kFactorsRight : 0)) {}

void MixCode::start(const LineArguments& lines, Reg zero) {
    if (shape_.uses_mma()) start_factors(zero);
    if (shape_.reads_shared())
        start_in_shared();
    else
        static_cast<void>(k_.dynamic_shared());
    if (shape_.reads_lines())
        start_at_lines(lines);
    else if (!shape_.reads_shared())
        for (const Reg value : values_) k_("mov.b32", value, kMixOne);
}

void MixCode::append_iteration(Reg zero) {
    const auto each = [&](auto&& append) {
        for (std::size_t i = 0; i < values_.size(); ++i) append(i);
    };
    const int wide = shape_.wide_loads();
    for (int group = 0; group < shape_.groups(); ++group) {
        for (int add = 0; add < shape_.adds(); ++add)
            each([&](std::size_t i) { k_("add.rn.f32", values_[i], values_[i], zero); });
        for (int access = 0; access < shape_.accesses && !shape_.arithmetic_only; ++access) {
            const bool joins = shape_.reads_lines() && (shape_.moves_vanish || (access == 0 && shape_.alpha > 0));
            if (joins) each([&](std::size_t i) { k_("mov.b64", addresses_[i], ptx::Vec{values_[i], upper_}); });
            each([&](std::size_t i) { append_access(i, access < wide); });
        }
    }
}

/// ptxas takes a register that was added to for a number. If that register itself were an address in shared memory,
/// ptxas would convert it.
void MixCode::append_access(std::size_t i, bool wide) {
    const std::string_view narrow =
        shape_.access == MixAccess::sfu && k_.target().sm < 20 ? "rsqrt.approx.f32" : shape_.instruction();
    const Reg value = values_[i];
    if (wide) return k_(shape_.wide_instruction(), addresses_[i], Mem{addresses_[i]});
    if (shape_.reads_lines()) return k_(narrow, value, Mem{addresses_[i]});
    if (shape_.uses_mma()) return append_mma(i);
    if (!shape_.reads_shared()) return k_(narrow, value, value);
    if (shape_.moves_vanish) k_("mov.b32", word_, value);
    k_(narrow, value, Mem{shape_.moves_vanish ? word_ : value});
}

void MixCode::append_mma(std::size_t i) {
    constexpr std::size_t kOthers = kSums - 1;
    const auto others = std::span(sums_).subspan(i * kOthers, kOthers);
    const ptx::Vec sums{values_[i], others[0], others[1], others[2]};
    const auto left = std::span(factors_).first(kFactorsLeft), right = std::span(factors_).last(kFactorsRight);
    k_(shape_.instruction(), sums, ptx::Vec(left), ptx::Vec(right), sums);
}

/// The word that a thread of a mix of shared loads reads repeatedly points to itself.
void MixCode::start_in_shared() {
    Reg word = k_.dynamic_shared();
    if (shape_.access == MixAccess::shared_conflict) {
        const Reg memory = word;
        word = k_.reg(Type::u32);
        k_("mad.lo.u32", word, k_.special(SpecialRegister::laneid), kMixPointerBytes,
           memory);  // every second word: two of each bank
    }
    k_("st.shared.b32", Mem{word}, word);
    k_("bar.sync", 0);
    for (const Reg value : values_) k_("mov.b32", value, word);
}

void MixCode::start_at_lines(const LineArguments& lines) {
    const Reg warp = k_.reg(Type::u32), chain = k_.reg(Type::u32);
    k_("shr.u32", warp, k_.thread_index(), 5);
    for (std::size_t i = 0; i < values_.size(); ++i) {
        k_("mad.lo.u32", chain, warp, static_cast<int>(values_.size()), static_cast<int>(i));
        k_("mov.b64", addresses_[i], line_address(k_, lines, chain));
        k_("mov.b64", ptx::Vec{values_[i], upper_}, addresses_[i]);
    }
}

/// Zeros that ptxas does not recognise as equal. Otherwise it would use one register for all factors, and copy it
/// again and again.
void MixCode::start_factors(Reg zero) {
    for (std::size_t i = 0; i < factors_.size(); ++i) {
        k_("mul.lo.u32", factors_[i], k_.special(SpecialRegister::laneid), static_cast<int>(i) + 3);
        k_("and.b32", factors_[i], factors_[i], zero);
    }
    for (const Reg sum : sums_) k_("mov.b32", sum, kMixOne);
}

Reg MixCode::sum() {
    const Reg sum = k_.reg(Type::u32), upper = k_.reg(Type::b32);
    k_("mov.b32", sum, 0);
    for (std::size_t i = 0; i < values_.size(); ++i) {
        if (shape_.reads_lines() && !shape_.ends_as_word()) k_("mov.b64", ptx::Vec{values_[i], upper}, addresses_[i]);
        k_("add.u32", sum, sum, values_[i]);
    }
    return sum;
}

}  // namespace gputomo::measure
