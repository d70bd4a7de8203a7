// How programs find the driver's entry points, and how they find the hooks instead: dlsym and cuGetProcAddress. Both
// kinds of the CUDA runtime, Triton and PyTorch use these; programs linked with the driver find the exported hooks.
#include "capture/interposer/driver.hpp"
#include "capture/interposer/hook.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace gputomo::capture {
namespace {

using Dlsym = void* (*)(void*, const char*);

/// The C library's dlsym. dlvsym finds it past our own, under the version that the system's C library gives it.
Dlsym real_dlsym() {
    static const Dlsym found = [] {
        for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"})
            if (void* const symbol = dlvsym(RTLD_NEXT, "dlsym", version); symbol != nullptr)
                return reinterpret_cast<Dlsym>(symbol);
        std::fputs("gputomo capture: this C library has no known version of dlsym; the program cannot run\n", stderr);
        std::abort();
    }();
    return found;
}

void* driver_library() {
    static void* const library = [] {
        void* const loaded = dlopen(abi::kDriverLibrary, RTLD_LAZY | RTLD_NOLOAD);
        return loaded != nullptr ? loaded : dlopen(abi::kDriverLibrary, RTLD_LAZY);
    }();
    return library;
}

const Hook* hook_exported_as(const char* symbol) {
    if (symbol[0] != 'c' || symbol[1] != 'u') return nullptr;  // most symbols are not the driver's
    for (const auto& hook : hooks())
        if (std::strcmp(hook.symbol, symbol) == 0) return &hook;
    return nullptr;
}

/// The hook whose function in the driver lies at this address.
const Hook* hook_at(const void* address) {
    for (const auto& hook : hooks())
        if (resolve(hook) == address) return &hook;
    return nullptr;
}

/// Whether a version of the function that is newer than all hooks lies at this address: its parameters may differ.
bool is_newer_version(const char* name, const void* address) {
    constexpr int kFirstVersion = 2, kLastVersion = 9;
    for (int version = kFirstVersion; version <= kLastVersion; ++version)
        for (const char* const variant : {"", "_ptsz"})
            if (exported_by_driver((std::string(name) + "_v" + std::to_string(version) + variant).c_str()) == address)
                return true;
    return false;
}

/// The hook that the driver's own rule chooses for a name, a version of CUDA and flags.
const Hook* hook_named(const char* name, int version, std::uint64_t flags) {
    const bool per_thread = (flags & abi::kPerThreadStreamFlag) != 0;
    const Hook* best = nullptr;
    for (const auto& hook : hooks()) {
        if (std::strcmp(hook.name, name) != 0 || hook.since > version || (hook.per_thread && !per_thread)) continue;
        const bool better = best == nullptr || hook.per_thread > best->per_thread ||
                            (hook.per_thread == best->per_thread && hook.since > best->since);
        if (better) best = &hook;
    }
    return best;
}

/// Whether the loader has already put a hook in the place of the driver's function.
bool is_replacement(const void* address) {
    return std::ranges::any_of(hooks(), [&](const Hook& hook) { return hook.replacement == address; });
}

}  // namespace

void* exported_by_driver(const char* name) {
    void* const library = driver_library();
    return library == nullptr ? nullptr : real_dlsym()(library, name);
}

void* resolve(const Hook& hook) {
    void* function = hook.replaced->load(std::memory_order_acquire);
    if (function != nullptr) return function;
    function = exported_by_driver(hook.symbol);
    if (is_replacement(function)) function = nullptr;
    hook.replaced->store(function, std::memory_order_release);
    return function;
}

void* resolve(const void* replacement, std::atomic<void*>& replaced) {
    for (const auto& hook : hooks())
        if (hook.replacement == replacement) return resolve(hook);
    return replaced.load();
}

/// What a program gets that asked cuGetProcAddress and would get `found`.
void* replacement_of(const char* name, void* found, int version, std::uint64_t flags) {
    if (is_replacement(found)) return found;
    const Hook* hook = hook_at(found);
    if (hook == nullptr && !is_newer_version(name, found)) {
        hook = hook_named(name, version, flags);
        if (hook != nullptr) hook->replaced->store(found, std::memory_order_release);
    }
    return hook == nullptr ? found : hook->replacement;
}

namespace {

/// The hook for what dlsym finds under the name of a hook; nullptr leaves the answer to dlsym.
__attribute__((noinline)) void* hooked(void* handle, const char* name) {
    const Hook* const hook = hook_exported_as(name);
    if (hook == nullptr) return nullptr;
    void* const found = real_dlsym()(handle, name);
    if (found == nullptr || is_replacement(found)) return found;
    hook->replaced->store(found, std::memory_order_release);
    return hook->replacement;
}

}  // namespace
}  // namespace gputomo::capture

// The real dlsym is called in tail position: RTLD_NEXT means the library after its caller, which must not be this one.
extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) {
    if (void* const hook = gputomo::capture::hooked(handle, name); hook != nullptr) return hook;
    return gputomo::capture::real_dlsym()(handle, name);
}
