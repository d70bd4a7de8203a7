// Runs one instruction of the simulated GPU on many values and compares each thread's result with host arithmetic.
#pragma once

#include "machines.hpp"

#include "ptx/builder.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace gputomo::sim::test {

using ptx::KernelBuilder;
using ptx::Mem;
using ptx::Reg;
using ptx::Type;

inline const ptx::Target kNewest{8, 0, 90};
/// 3 warps, the last one half empty.
inline constexpr std::size_t kThreads = 80;

template <class T>
constexpr Type type_of() {
    if constexpr (std::is_same_v<T, bool>)
        return Type::pred;
    else if constexpr (std::is_same_v<T, float>)
        return Type::f32;
    else if constexpr (std::is_same_v<T, double>)
        return Type::f64;
    else if constexpr (sizeof(T) == 2)
        return std::is_signed_v<T> ? Type::s16 : Type::u16;
    else if constexpr (sizeof(T) == 4)
        return std::is_signed_v<T> ? Type::s32 : Type::u32;
    else
        return std::is_signed_v<T> ? Type::s64 : Type::u64;
}

/// Special values, small ones and random ones, in a different order for each operand.
template <class T>
std::vector<T> samples(std::uint64_t seed) {
    using limits = std::numeric_limits<T>;
    std::vector<T> values{T{0}, T{1}, limits::min(), limits::max(), limits::lowest(), static_cast<T>(7)};
    if constexpr (std::is_floating_point_v<T>)
        values.insert(values.end(), {T(-0.0), T(-1), T(0.5), T(1.5), T(2.5), T(1e10), limits::infinity(),
                                     -limits::infinity(), limits::quiet_NaN(), limits::denorm_min()});
    std::mt19937_64 random(seed);
    while (values.size() < kThreads) {
        const auto bits = random();
        if constexpr (std::is_same_v<T, bool>)
            values.push_back((bits & 1) != 0);
        else if constexpr (std::is_floating_point_v<T>)
            values.push_back(static_cast<T>(static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-58));
        else
            values.push_back(static_cast<T>((bits & 3) == 0 ? bits >> 4 & 63 : bits >> 5));
    }
    std::shuffle(values.begin(), values.end(), random);
    return values;
}

template <class T>
bool same(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
    else
        return a == b;
}

class Execution : public testing::Test {
protected:
    /// `emit(builder, result, operands)` appends the instruction; `host(operands...)` computes the expected result.
    template <class R, class... T>
    void check_body(const std::string& name,
                    const std::function<void(KernelBuilder&, Reg, const std::vector<Reg>&)>& emit, R (*host)(T...)) {
        KernelBuilder k("check", kNewest);
        const Reg out = k.param(Type::u64, "out"), in = k.param(Type::u64, "in");
        const Reg index = k.thread_index();
        const Reg to = k.element(out, index, Bytes(8)), from = k.element(in, index, Bytes(8));
        std::vector<std::uint64_t> inputs;
        std::vector<Reg> operands;
        const std::tuple<std::vector<T>...> values{load<T>(k, from, operands, inputs)...};
        const Reg result = k.reg(type_of<R>());
        emit(k, result, operands);
        store<R>(k, to, result);
        const auto found = run(k, inputs);
        for (std::size_t i = 0; i < kThreads; ++i) {
            const R expected = std::apply([&](const auto&... of) { return host(of[i]...); }, values);
            R actual{};
            std::memcpy(&actual, &found[i], sizeof actual);
            std::string shown;
            std::apply([&](const auto&... of) { ((shown += " " + std::to_string(of[i])), ...); }, values);
            EXPECT_TRUE(same(actual, expected)) << name << shown << " gives " << actual << "; expected " << expected;
        }
    }

    /// `mnemonic result, operands...`.
    template <class R, class... T>
    void check(const std::string& mnemonic, R (*host)(T...)) {
        check_body(
            mnemonic,
            [&](KernelBuilder& k, Reg result, const std::vector<Reg>& operands) {
                std::vector<ptx::Arg> args{result};
                args.insert(args.end(), operands.begin(), operands.end());
                k.emit(mnemonic, args);
            },
            host);
    }

    std::vector<std::uint64_t> run(const KernelBuilder& k, const std::vector<std::uint64_t>& inputs) {
        device::Buffer out(*gpu_, Bytes(8 * kThreads)),
            in(*gpu_, Bytes(static_cast<std::int64_t>(8 * inputs.size() + 8)));
        in.write(inputs);
        const auto module = gpu_->load(k.text());
        device::Launch launch{.block = {kThreads}};
        launch.arguments.add(out.address()).add(in.address());
        module->kernel(k.name()).launch(launch);
        return out.read<std::uint64_t>(kThreads);
    }

private:
    template <class T>
    static std::vector<T> load(KernelBuilder& k, Reg from, std::vector<Reg>& operands,
                               std::vector<std::uint64_t>& inputs) {
        auto values = samples<T>(operands.size() + 1);
        const auto at = static_cast<std::int64_t>(inputs.size() * 8);
        for (const T value : values) {
            std::uint64_t bits = 0;
            const T copy = value;
            std::memcpy(&bits, &copy, sizeof copy);
            inputs.push_back(bits);
        }
        Reg reg = k.reg(type_of<T>());
        if constexpr (std::is_same_v<T, bool>) {
            const Reg word = k.reg(Type::u32);
            k("ld.global.u32", word, Mem(from, at));
            k("setp.ne.u32", reg, word, 0);
        } else {
            k.emit("ld.global." + name_of_type<T>(), {reg, Mem(from, at)});
        }
        operands.push_back(reg);
        return values;
    }
    template <class R>
    static void store(KernelBuilder& k, Reg to, Reg result) {
        if constexpr (std::is_same_v<R, bool>) {
            const Reg word = k.reg(Type::u32);
            k("selp.u32", word, 1, 0, result);
            k("st.global.u32", Mem(to), word);
        } else {
            k.emit("st.global." + name_of_type<R>(), {Mem(to), result});
        }
    }
    template <class T>
    static std::string name_of_type() {
        if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? "f32" : "f64";
        return (std::is_signed_v<T> ? "s" : "u") + std::to_string(8 * sizeof(T));
    }

    std::unique_ptr<SimulatedDevice> gpu_ = make_device(small_machine(), {});
};

}  // namespace gputomo::sim::test
