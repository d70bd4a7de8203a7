#include "sim/memory/device_memory.hpp"

#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gputomo::sim {
namespace {

constexpr std::uint64_t kBytes = 100'003;

std::byte content_at(std::uint64_t offset) { return static_cast<std::byte>(offset * 7 + offset / 4096); }

TEST(DeviceMemory, HasTheContentThatIsFilledWhereItIsReached) {
    DeviceMemory memory(~std::uint64_t{0});
    const std::uint64_t address = memory.allocate(kBytes);
    std::uint64_t filled = 0;
    memory.fill_when_reached(address, [&](std::uint64_t offset, std::span<std::byte> to) {
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = content_at(offset + i);
        filled += to.size();
    });
    EXPECT_EQ(filled, 0U);
    EXPECT_EQ(*memory.resolve(address + 50'000, 1), content_at(50'000));
    const std::uint64_t once = filled;
    EXPECT_GT(once, 0U);
    EXPECT_LT(once, 10'000U);
    // What was written stays.
    *memory.resolve(address + 50'001, 1) = std::byte{99};
    EXPECT_EQ(*memory.resolve(address + 50'001, 1), std::byte{99});
    EXPECT_EQ(filled, once);
    // Across pages, to the last byte.
    const std::byte* const all = memory.resolve(address, kBytes);
    for (std::uint64_t i = 0; i < kBytes; ++i) ASSERT_EQ(all[i], i == 50'001 ? std::byte{99} : content_at(i)) << i;
    EXPECT_EQ(filled, kBytes);
    EXPECT_EQ(memory.resolve(address, kBytes + 1), nullptr);
}

TEST(DeviceMemory, RefusesToFillWhatIsNoAllocation) {
    DeviceMemory memory(~std::uint64_t{0});
    EXPECT_THAT([&] { memory.fill_when_reached(memory.allocate(64) + 32, {}); },
                testing::ThrowsMessage<DeviceError>(testing::HasSubstr("is no allocation")));
}

}  // namespace
}  // namespace gputomo::sim
