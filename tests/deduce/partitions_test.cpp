#include "deduce/memory/partitions.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace gputomo::deduce {
namespace {

constexpr std::size_t kSms = 30, kLines = 48;

/// Draws latency maps. SMs and lines differ by up to 20 cycles each; SMs from `border` on and every third line belong
/// to the other partition, which is `apart` cycles farther.
class Maps {
public:
    explicit Maps(std::size_t border, double apart, double noise = 1)
        : border_(border), apart_(apart), noise_(0, noise) {}
    LatencyMap draw() {
        LatencyMap map(kSms, std::vector<double>(kLines));
        for (std::size_t sm = 0; sm < kSms; ++sm)
            for (std::size_t line = 0; line < kLines; ++line)
                map[sm][line] = 250 + static_cast<double>(sm * 7 % 20 + line * 11 % 20) +
                                (of_sm(sm) != of_line(line) ? apart_ : 0) + noise_(random_);
        return map;
    }
    [[nodiscard]] bool of_sm(std::size_t sm) const { return sm >= border_; }
    [[nodiscard]] static bool of_line(std::size_t line) { return line % 3 == 0; }

private:
    std::size_t border_;
    double apart_;
    std::mt19937_64 random_{7};
    std::normal_distribution<double> noise_;
};

TEST(Partitions, FindsOneIfMeansOfSmsAndLinesExplainAll) {
    for (const double noise : {0.0, 1.0, 8.0}) {
        Maps maps(12, 0, noise);
        EXPECT_EQ(find_partitions(maps.draw(), maps.draw()).count, 1U) << noise;
    }
}

TEST(Partitions, FindsTwoOfAnySizeWithTheirMembers) {
    for (const std::size_t border : {4U, 15U, 26U}) {
        Maps maps(border, 31);
        const auto found = find_partitions(maps.draw(), maps.draw());
        ASSERT_EQ(found.count, 2U) << found.why;
        EXPECT_NEAR(found.far - found.near, 31, 4);
        const bool flipped = found.of_sm[0];
        for (std::size_t sm = 0; sm < kSms; ++sm) EXPECT_EQ(found.of_sm[sm] != flipped, maps.of_sm(sm)) << sm;
        for (std::size_t line = 0; line < kLines; ++line)
            EXPECT_EQ(found.of_line[line] != flipped, Maps::of_line(line)) << line;
    }
}

TEST(Partitions, LeavesDifferencesWithoutTwoGroupsUndecided) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> own(0, 15);
    LatencyMap map(kSms, std::vector<double>(kLines));
    for (auto& row : map)
        for (auto& latency : row) latency = 250 + own(random);
    const auto found = find_partitions(map, map);
    EXPECT_EQ(found.count, 0U);
    EXPECT_FALSE(found.why.empty());
}

TEST(Partitions, RefusesMapsOfDifferentSize) {
    Maps maps(4, 0);
    auto shorter = maps.draw();
    shorter.pop_back();
    EXPECT_THROW(static_cast<void>(find_partitions(maps.draw(), shorter)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(find_partitions({}, {})), std::invalid_argument);
}

}  // namespace
}  // namespace gputomo::deduce
