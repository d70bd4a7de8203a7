// The table of interposed entry points: what a program gets instead of the driver's functions, and what lies behind.
#pragma once

#include "capture/interposer/abi.hpp"

#include <atomic>
#include <span>
#include <string_view>

namespace gputomo::capture {

/// One interposed entry point.
struct Hook {
    const char* symbol;            ///< as the driver exports it: "cuMemAlloc_v2"
    const char* name;              ///< as programs ask cuGetProcAddress for it: "cuMemAlloc"
    int since;                     ///< version of CUDA from which on the name means this symbol
    bool per_thread;               ///< the variant in which stream 0 is the thread's own
    void* replacement;             ///< what the program calls
    std::atomic<void*>* replaced;  ///< the driver's function
};

[[nodiscard]] std::span<const Hook> hooks();

/// The driver's function behind a replacement, nullptr where the driver has none.
[[nodiscard]] void* resolve(const Hook& hook);
[[nodiscard]] void* resolve(const void* replacement, std::atomic<void*>& replaced);

template <auto* Replacement>
struct Behind {
    static inline std::atomic<void*> replaced = nullptr;

    /// Calls the driver's function, or returns that it does not exist.
    template <class... Arguments>
    static abi::Result call(Arguments... arguments) {
        void* function = replaced.load(std::memory_order_acquire);
        if (function == nullptr) function = resolve(reinterpret_cast<const void*>(Replacement), replaced);
        if (function == nullptr) return abi::kNotFound;
        return reinterpret_cast<decltype(Replacement)>(function)(arguments...);
    }
};

}  // namespace gputomo::capture
