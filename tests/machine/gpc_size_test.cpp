// Which SMs belong to one GPC, and where the first blocks of a grid start.
#include "machine/gpc_size.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::machine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Topology topology(std::int64_t sms, std::int64_t of_gpc, std::vector<std::int64_t> clusters = {}) {
    Topology made;
    made.sms.set(sms);
    made.sms_per_tpc.set(2);
    made.sms_per_gpc.set(of_gpc);
    if (!clusters.empty()) made.cluster_sms.set(std::move(clusters));
    return made;
}

TEST(GpcSizes, SmallGroupsOfClustersShareAGpc) {
    EXPECT_THAT(gpc_sizes(topology(132, 18, {18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2})),
                ElementsAre(18, 18, 16, 16, 16, 16, 16, 16));
}

TEST(GpcSizes, SmsBeyondTheGroupsAreInGpcsOfTheirOwn) {
    EXPECT_THAT(gpc_sizes(topology(20, 6)), ElementsAre(6, 6, 6, 2));
    EXPECT_THAT(gpc_sizes(topology(20, 6, {6, 4})), ElementsAre(6, 4, 6, 4));
    EXPECT_THAT(gpc_sizes(topology(8, 6, {6, 6, 6})), ElementsAre(6, 2)) << "no more than there are";
    EXPECT_THAT(gpc_sizes({}), IsEmpty());
}

TEST(GpcSizes, EachSmHasTheGpcOfItsGroup) {
    EXPECT_THAT(gpcs_of_sms(topology(7, 4)), ElementsAre(0, 0, 0, 0, 1, 1, 1));
}

TEST(FirstSms, BlocksAreSpreadOverGpcsAndThenOverTpcs) {
    const Topology made = topology(12, 4);
    EXPECT_THAT(first_sms(made, 3), ElementsAre(0, 4, 8));
    EXPECT_THAT(first_sms(made, 6), ElementsAre(0, 2, 4, 6, 8, 10));
    EXPECT_THAT(first_sms(made, 8), ElementsAre(0, 1, 2, 4, 5, 6, 8, 10)) << "neighbouring blocks in one GPC";
    EXPECT_THAT(first_sms(made, 12), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
    EXPECT_THAT(first_sms(made, 1000), SizeIs(12));
}

TEST(FirstSms, SmallGpcsAreFilledBeforeOthersGetMore) {
    EXPECT_THAT(first_sms(topology(6, 4), 6), SizeIs(6));
    EXPECT_THAT(first_sms(topology(6, 4), 5), ElementsAre(0, 1, 2, 4, 5));
}

}  // namespace
}  // namespace gputomo::machine
