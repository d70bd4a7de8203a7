#include "report/picture.hpp"

#include "report/parts/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace gputomo::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string drawn(const machine::Machine& machine, double width = 800) {
    return picture(machine, Facts(machine), {}, width);
}

/// An invented GPU: it has a cache in each place, an undecided one, an absent one, and one whose sharers are unknown.
machine::Machine odd() {
    machine::Machine m;
    m.topology.sms.set(7);
    m.topology.registers_per_sm.set(3000);
    m.issue.schedulers_per_sm.set(3);
    m.pipelines["xu"].lanes.set(12);
    m.pipelines["xu"].latency.set(9);
    m.pipelines["slow"].lanes.set(0.5);
    m.shared.capacity.set(48 * 1024);
    m.shared.latency.set(29);
    for (const char* scope : {"tpc", "gpc", "gpu"}) {
        m.caches[std::string("in_") + scope].scope.set(scope);
        m.caches[std::string("in_") + scope].capacity.set(1 << 20);
    }
    auto& open = m.caches["l1"].capacity;
    open.knowledge = machine::Knowledge::undecided;
    open.provenance.interval = {{16384, 24576}};
    m.caches["none"].capacity.knowledge = machine::Knowledge::absent;
    m.paths["global"].caches.set({"l1", "in_gpu"});
    m.paths["global"].memory_latency.set(512);
    m.tlbs["global_l1"].reach.set(2 << 20);
    m.tlbs["global_l1"].miss_penalty.set(33);
    return m;
}

TEST(Picture, HasWhatTheDescriptionKnowsWithSizesAndLatencies) {
    const auto text = drawn(odd());
    for (const char* there :
         {"One of 7 SMs", ">Scheduler 3<", ">XU<", ">12 lanes, 9 cycles<", ">0.5 operations/cycle<", ">11.72 KiB<",
          ">Shared memory<", ">48 KiB, 29 cycles<", "SMs of a TPC", "SMs of a GPC", "Shared by all SMs", ">In gpu<",
          ">reaches 2 MiB<", ">a miss adds 33 cycles<", ">global: 512 cycles<"})
        EXPECT_THAT(text, HasSubstr(there));
    EXPECT_THAT(text, Not(HasSubstr("Scheduler 4")));
}

TEST(Picture, UndecidedThingsAreDashedAndAbsentOnesLeftOut) {
    const auto text = drawn(odd());
    const auto box = text.substr(text.find("class='box cache undecided'"));
    EXPECT_THAT(box.substr(0, box.find("</g>")),
                AllOf(HasSubstr(">L1<"), HasSubstr(">16 to 24 KiB<"), HasSubstr(">sharers unknown<")));
    EXPECT_LT(text.find("class='box cache undecided'"), text.find("SMs of a TPC"))
        << "the first cache of a path is drawn in the SM";
    EXPECT_THAT(text, Not(HasSubstr(">None<")));
}

/// The text of the box with this title.
std::string box_of(const std::string& text, const std::string& title) {
    const auto at = text.find(">" + title + "<");
    return at == std::string::npos ? "" : text.substr(at, text.find("</g>", at) - at);
}

/// An invented GPU on which three names lead to one storage of the SM, and three to one of all SMs.
machine::Machine unified() {
    machine::Machine m;
    m.shared.unified_cache.set("l1");
    m.shared.capacity.set(96 * 1024);
    m.shared.latency.set(25);
    for (const char* key : {"l1", "texture_l1"}) {
        auto& cache = m.caches[key];
        cache.capacity.set(112 * 1024), cache.line.set(128), cache.ways.set(4), cache.sets.set(256);
        cache.scope.set("sm");
    }
    m.caches["l1"].latency.set(30);
    m.caches["texture_l1"].latency.set(80);
    m.caches["l2"].capacity.set(3 << 20);
    m.caches["l2"].latency.set(200, {.interval = {{190, 215}}});
    m.caches["l2"].partitions.set(2);
    m.caches["texture_l2"].capacity.knowledge = machine::Knowledge::undecided;
    m.caches["texture_l2"].latency.set(240);
    m.caches["constant_l2"].capacity.knowledge = machine::Knowledge::undecided;
    m.caches["constant_l2"].latency.set(90);
    m.caches["instruction_l2"].capacity.set(64 * 1024);
    m.caches["instruction_l2"].scope.knowledge = machine::Knowledge::undecided;
    m.caches["instruction_l2"].scope.candidates = {"gpc"};
    m.paths["global"].caches.set({"l1", "l2"});
    m.paths["texture"].caches.set({"texture_l1", "texture_l2"});
    return m;
}

TEST(Picture, AStorageIsDrawnOnceWhicheverPathsLeadToIt) {
    const auto text = drawn(unified());
    const auto l1 = box_of(text, "L1 and shared memory: one storage"), l2 = box_of(text, "L2");
    EXPECT_THAT(l1, AllOf(HasSubstr(">L1: 112 KiB, 30 cycles<"), HasSubstr(">shared memory: 96 KiB, 25 cycles<"),
                          HasSubstr(">Texture path: 80 cycles<")));
    EXPECT_THAT(l1, HasSubstr(">4 ways x 256 sets: tags for 128 KiB<")) << "more tags than data";
    EXPECT_THAT(l2, AllOf(HasSubstr(">3 MiB seen by an SM, 200 cycles<"), HasSubstr(">at least 6 MiB in all<"),
                          HasSubstr(">2 partitions<"), HasSubstr(">Texture path: 240 cycles<")));
    for (const char* twice : {">Texture L1<", ">Texture L2<", ">Shared memory<", ">L1<"})
        EXPECT_THAT(text, Not(HasSubstr(twice)));
    EXPECT_THAT(text, HasSubstr(">Constant L2<")) << "much nearer than the L2, so that it is another storage";
}

TEST(Picture, CachesOfDifferentGeometryAreTwoStorages) {
    auto m = unified();
    m.caches["texture_l1"].sets.set(128);
    m.caches["texture_l2"].capacity.set(1 << 20);
    const auto text = drawn(m);
    EXPECT_THAT(text, AllOf(HasSubstr(">Texture L1<"), HasSubstr(">Texture L2<")));
}

TEST(Picture, ASingleCandidateForTheSharersIsTheFrame) {
    const auto text = drawn(unified());
    EXPECT_GT(text.find(">Instruction L2<"), text.find("SMs of a GPC"));
    EXPECT_LT(text.find(">Instruction L2<"), text.find("Shared by all SMs"));
    EXPECT_THAT(box_of(text, "Instruction L2"), HasSubstr(">sharers not certain<"));
}

TEST(Picture, TheTotalOfAPartedCacheComesFromItsEvidence) {
    const results::Trace overfill{"caches/l2_overfill",
                                  "caches",
                                  {{"size", "bytes", {1 << 20, 4 << 20, 5 << 20, 7 << 20, 8 << 20}},
                                   {"misses", "percent", {0, 80, 100, 100, 100}},
                                   {"served_nearer_than_memory", "percent", {0, 40, 50, 0.5, 0}}},
                                  {}};
    const auto m = unified();
    EXPECT_THAT(picture(m, Facts(m), {overfill}, 800), HasSubstr(">5 to 7 MiB in all<"));
}

TEST(Picture, EverythingStaysInsideThePictureAtAnyWidth) {
    for (const double width : {340.0, 800.0, 1600.0}) {
        const auto text = drawn(odd(), width);
        for (auto at = text.find("<rect "); at != std::string::npos; at = text.find("<rect ", at + 1)) {
            const auto number = [&](const char* name) {
                auto from = text.find(name, at) + std::string(name).size();
                if (text[from] == '\'') ++from;
                return std::strtod(text.c_str() + from, nullptr);
            };
            EXPECT_GE(number(" x="), 0);
            EXPECT_LE(number(" x=") + number(" width="), width + 0.1);
        }
    }
}

TEST(Picture, IsEmptyForAnEmptyDescription) { EXPECT_EQ(drawn({}), ""); }

TEST(Text, NumbersHaveReadableUnits) {
    using machine::Unit;
    EXPECT_EQ(number_text(16384, Unit::bytes), "16 KiB");
    EXPECT_EQ(number_text(5000, Unit::bytes), "4.883 KiB");
    EXPECT_EQ(number_text(512, Unit::bytes), "512 bytes");
    EXPECT_EQ(number_text(38, Unit::cycles), "38 cycles");
    EXPECT_EQ(number_text(137.92117, Unit::gigabytes_per_second), "137.9 GB/s");
    EXPECT_EQ(number_text(65536, Unit::count), "65536");
}

TEST(Text, AnUndecidedLeafShowsCandidatesOrInterval) {
    machine::Machine m;
    const auto of = [&](std::vector<std::int64_t> candidates) {
        m.shared.banks.knowledge = machine::Knowledge::undecided;
        m.shared.banks.candidates = std::move(candidates);
        return Facts(m).text("shared.banks");
    };
    EXPECT_EQ(of({16, 32}), "16 or 32");
    EXPECT_EQ(of({5, 6, 7, 8}), "5 to 8");
    EXPECT_EQ(of({5, 6, 8, 9}), "5 or 6 or 8 or 9");
    EXPECT_EQ(of({}), "undecided");
    EXPECT_EQ(range_text(512, 2048, machine::Unit::bytes), "512 bytes to 2 KiB");
}

TEST(Text, CandidatesThatAreListsAreReadInOneWay) {
    machine::Machine m;
    auto& units = m.operations["add.s32"].units;
    units.knowledge = machine::Knowledge::undecided;
    units.candidates = {{"int"}, {"sfu", "int"}};
    EXPECT_EQ(Facts(m).text("operations[add.s32].units"), "int, or sfu with int");
}

TEST(Text, AnIntervalThatReadsAsOneNumberIsOne) {
    EXPECT_EQ(range_text(0.99999, 1.00001, machine::Unit::cycles), "1 cycle");
    EXPECT_EQ(range_text(3352.3187, 3352.3213, machine::Unit::gigabytes_per_second), "3352 GB/s");
}

TEST(Text, AnchorsOfDifferentNamesDiffer) {
    EXPECT_EQ(anchor("leaf", "caches.l1.ways"), "leaf-caches.l1.ways");
    EXPECT_NE(anchor("trace", "a/b"), anchor("trace", "a b"));
    EXPECT_NE(anchor("trace", "a~2fb"), anchor("trace", "a/b"));
}

}  // namespace
}  // namespace gputomo::report
