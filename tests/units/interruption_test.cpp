// Who is asked whether long work should go on.
#include "units/interruption.hpp"
#include "units/error.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace gputomo {
namespace {

TEST(Interruption, NobodyIsAskedWithoutAScope) { EXPECT_NO_THROW(look_for_interruption()); }

TEST(Interruption, TheInnermostScopeIsAsked) {
    int outer = 0, inner = 0;
    const InterruptionScope one([&] { ++outer; });
    {
        const InterruptionScope two([&] { ++inner; });
        look_for_interruption();
    }
    look_for_interruption();
    look_for_interruption();
    EXPECT_EQ(outer, 2);
    EXPECT_EQ(inner, 1);
}

TEST(Interruption, WhatTheScopeThrowsEndsTheWork) {
    const InterruptionScope scope([] { throw Interrupted("enough"); });
    EXPECT_THROW(look_for_interruption(), Interrupted);
}

TEST(Interruption, OtherThreadsAreNotConcerned) {
    int asked = 0;
    const InterruptionScope scope([&] { ++asked; });
    std::jthread([] { look_for_interruption(); }).join();
    EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace gputomo
