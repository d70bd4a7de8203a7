// Test fixtures with a CUDA device on the fake driver.
#pragma once

#include "fake_state.hpp"

#include "device/cuda/cuda.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace gputomo::device::cuda::testing {

inline constexpr const char* kNoLibrary = "libgputomo_that_is_not_there.so";

/// The state of one of the fake libraries, which stay loaded like the real one.
inline fake::State& state_of(const char* library) {
    void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void* const state = handle == nullptr ? nullptr : dlsym(handle, fake::kStateSymbol);
    if (state == nullptr) throw std::runtime_error(std::string(library) + " isn't a fake driver");
    return *static_cast<fake::State*>(state);
}

inline const Libraries kFake{GPUTOMO_FAKE_CUDA, kNoLibrary};

/// Returns the text of the error that `action` throws; without one, the test fails.
template <class Expected = DeviceError, class Action>
std::string said(Action action) {
    try {
        action();
    } catch (const Expected& error) {
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
}

class FakeDriverTest : public ::testing::Test {
protected:
    FakeDriverTest() { state() = {}; }
    static fake::State& state() { return state_of(GPUTOMO_FAKE_CUDA); }
    static void fail(const char* call, int result) {
        state().failing_call = call;
        state().failure = result;
    }
    static std::unique_ptr<Device> open_fake() { return open(0, kFake); }
    static void expect_all_closed() {
        const fake::State& left = state();
        for (const int open : {left.contexts, left.streams, left.events, left.links, left.modules, left.allocations,
                               left.textures, left.reservations, left.mappings, left.physical})
            EXPECT_EQ(open, 0);
    }
};

}  // namespace gputomo::device::cuda::testing
