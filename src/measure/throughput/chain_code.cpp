#include "measure/throughput/chain_code.hpp"

#include "ptx/names.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <stdexcept>
#include <string>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

std::string mnemonic_for(std::string_view access, Type type) {
    return fmt::format("{}.{}", access, ptx::name_of(type));
}

std::vector<std::string_view> words(std::string_view text, std::string_view separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const auto end = std::min(text.find(separator), text.size());
        parts.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + separator.size(), text.size()));
    }
    return parts;
}

template <class T>
std::optional<T> number(std::string_view text, int base) {
    T value{};
    std::from_chars_result result{};
    if constexpr (std::is_floating_point_v<T>)
        result = std::from_chars(text.data(), text.data() + text.size(), value);
    else
        result = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

ptx::Arg literal(std::string_view text) {
    if (text.starts_with("0x"))
        if (const auto bits = number<std::int64_t>(text.substr(2), 16)) return *bits;
    if (const auto integer = number<std::int64_t>(text, 10)) return *integer;
    if (const auto real = number<double>(text, 10)) return *real;
    throw std::logic_error(fmt::format("operation: '{}' is neither an operand nor a number", text));
}

/// Letters of an operation's text that name scratch registers.
constexpr std::string_view kScratch = "tulq";

Type scratch_type(char letter, Type chain) { return letter == 'q' ? Type::pred : letter == 'l' ? Type::b32 : chain; }

}  // namespace

bool names(std::string_view code, char letter) {
    for (const auto instruction : words(code, "; "))
        for (const auto word : words(instruction, " "))
            if (word.size() == 1 && word[0] == letter) return true;
    return false;
}

std::vector<Chain> load_chains(ptx::KernelBuilder& k, const TimedOperation& operation, int count, Reg operands,
                               int first) {
    std::vector<Chain> chains;
    for (int i = first; i < first + count; ++i) {
        Chain chain{k.reg(operation.type), k.reg(operation.type), {}};
        k(mnemonic_for("ld.global", operation.type), chain.even, Mem{operands, kSharedBytes + i * kChainBytes});
        k(mnemonic_for("ld.global", operation.type), chain.odd,
          Mem{operands, kSharedBytes + i * kChainBytes + kChainBytes / 2});
        for (const char letter : kScratch)
            if (names(operation.code, letter))
                chain.scratch.emplace(letter, k.reg(scratch_type(letter, operation.type)));
        chains.push_back(std::move(chain));
    }
    return chains;
}

SharedOperands load_shared(ptx::KernelBuilder& k, Reg operands) {
    const SharedOperands shared{k.reg(Type::b32), k.reg(Type::b32), k.reg(Type::pred), {}};
    k("ld.global.b32", shared.x, Mem{operands});
    k("ld.global.b32", shared.y, Mem{operands, 8});
    k("setp.ne.b32", shared.p, shared.x, shared.y);
    return shared;
}

void store_chains(ptx::KernelBuilder& k, const TimedOperation& operation, std::span<const Chain> chains, Reg results,
                  int first) {
    for (std::size_t i = 0; i < chains.size(); ++i) {
        const auto offset = kSharedBytes + (first + static_cast<std::int64_t>(i)) * kChainBytes;
        k(mnemonic_for("st.global", operation.type), Mem{results, offset}, chains[i].even);
        k(mnemonic_for("st.global", operation.type), Mem{results, offset + kChainBytes / 2}, chains[i].odd);
    }
}

void append_step(ptx::KernelBuilder& k, const TimedOperation& operation, const Chain& chain,
                 const SharedOperands& shared, int i) {
    const Reg older = i % 2 == 0 ? chain.even : chain.odd;
    const Reg last = i % 2 == 0 ? chain.odd : chain.even;
    const auto operand = [&](std::string_view word) -> ptx::Arg {
        if (word.size() > 1 || (word[0] >= '0' && word[0] <= '9')) return literal(word);
        switch (word[0]) {
            case 'd':
            case 'b': return older;
            case 'a': return last;
            case 'x': return shared.x;
            case 'y': return shared.y;
            case 'p': return shared.p;
            case 'm': return Mem{shared.m.value()};
            default: return chain.scratch.at(word[0]);
        }
    };
    for (const auto instruction : words(operation.code, "; ")) {
        auto parts = words(instruction, " ");
        // Operands without a mnemonic belong to the operation's own name.
        const bool whole = parts.front().size() > 1;
        std::vector<ptx::Arg> args;
        for (const auto word : std::span(parts).subspan(whole ? 1 : 0)) args.push_back(operand(word));
        k.emit(whole ? parts.front() : operation.name, args);
    }
}

std::vector<std::uint64_t> initial_operands(const TimedOperation& operation, int chains) {
    std::vector<std::uint64_t> bits;
    for (int i = 0; i < 2 * chains; ++i) {
        const double value = 1.0 + 0.125 * i;
        if (operation.type == Type::f64)
            bits.push_back(std::bit_cast<std::uint64_t>(value));
        else if (operation.type == Type::f32)
            bits.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
        else
            bits.push_back(static_cast<std::uint64_t>(2 * i + 3));
    }
    return bits;
}

std::vector<std::uint64_t> shared_values() { return {5, 12}; }

}  // namespace gputomo::measure
