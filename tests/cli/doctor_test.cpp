// Tests of `gputomo doctor`: its checks on made-up findings, and the program on fake drivers and without one.
#include "cli/doctor/checks.hpp"
#include "cli/doctor/host.hpp"
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace gputomo::cli {
namespace {
namespace doctor_test {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A GPU with which nothing is wrong.
DoctorFindings sound() {
    DoctorFindings found;
    found.device = "cuda:0";
    found.name = "NVIDIA X1";
    found.gpus = {found.name};
    found.overview = device::cuda::Overview{
        .name = found.name,
        .uuid = "GPU-1",
        .identification = {.driver = "570.1", .cuda = "12.8", .pci_bus_id = "0000:3b:00.0", .description = {}},
        .condition = {.most_sm_mhz = 1980,
                      .most_memory_mhz = 3201,
                      .memory = Bytes{1000},
                      .free_memory = Bytes{900},
                      .persistence = true,
                      .mig = false,
                      .compute_mode = device::cuda::ComputeMode::any_process,
                      .processes = std::vector<unsigned>{}}};
    found.state = device::ClockState{};
    found.state->sm_mhz = 1980;
    found.state->memory_mhz = 3201;
    found.state->throttle_reasons = std::vector<std::string>{};
    found.state->ecc = true;
    found.state->ecc_uncorrected = 0;
    found.experiments = {"caches", "tlb", "dance"};
    return found;
}

Check named(const DoctorFindings& found, const std::string& name) {
    const auto checks = checks_of(found);
    const auto check = std::ranges::find(checks, name, &Check::name);
    if (check == checks.end()) throw std::runtime_error("no check " + name);
    return *check;
}

/// The names of the checks with this effect.
std::vector<std::string> with(const DoctorFindings& found, Effect effect) {
    std::vector<std::string> names;
    for (const auto& check : checks_of(found))
        if (check.effect == effect) names.push_back(check.name);
    return names;
}

TEST(Doctor, TrustsAGpuThatNothingDisturbs) {
    EXPECT_EQ(verdict(checks_of(sound())), Effect::none);
    EXPECT_THAT(with(sound(), Effect::unknown), IsEmpty());
    auto at_rest = sound();
    at_rest.state->throttle_reasons = std::vector<std::string>{"idle"};
    at_rest.state->sm_mhz = 345;
    EXPECT_EQ(named(at_rest, "clock").effect, Effect::none);
    EXPECT_EQ(named(at_rest, "clock").advice, "") << "a GPU at rest is not locked";
}

TEST(Doctor, NamesEachThingThatHarms) {
    auto found = sound();
    auto& gpu = found.overview->condition;
    gpu.processes = std::vector<unsigned>{41, 42};
    EXPECT_THAT(with(found, Effect::harms), ElementsAre("processes"));
    EXPECT_THAT(named(found, "processes").found, HasSubstr("41, 42"));
    gpu.free_memory = Bytes{749};
    EXPECT_THAT(with(found, Effect::harms), ElementsAre("processes", "memory"));
    gpu.mig = true;
    found.state->throttle_reasons = std::vector<std::string>{"idle", "power cap"};
    found.state->ecc_uncorrected = 1;
    EXPECT_THAT(with(found, Effect::harms), ElementsAre("modes", "clock", "processes", "memory", "ecc"));
    for (const auto& check : checks_of(found))
        EXPECT_TRUE(check.effect == Effect::none || !check.advice.empty()) << check.name;
    EXPECT_EQ(verdict(checks_of(found)), Effect::harms);
}

TEST(Doctor, AReasonThatNobodyKnowsHarms) {
    auto found = sound();
    found.state->throttle_reasons = std::vector<std::string>{"unknown reason 0x8000"};
    EXPECT_EQ(named(found, "clock").effect, Effect::harms);
}

TEST(Doctor, ALockedClockHoldsWithAdvice) {
    auto found = sound();
    found.state->sm_mhz = 1410;
    const auto clock = named(found, "clock");
    EXPECT_EQ(clock.effect, Effect::none);
    EXPECT_THAT(clock.found, HasSubstr("SM 1410 of at most 1980 MHz"));
    EXPECT_THAT(clock.advice, HasSubstr("--reset-gpu-clocks"));
    EXPECT_EQ(clock.values.at("most_sm_mhz"), 1980);
}

TEST(Doctor, SaysWhatPrevents) {
    auto found = sound();
    found.overview->condition.compute_mode = device::cuda::ComputeMode::nobody;
    found.failure = "cuLinkCreate_v2 failed: no compiler";
    found.state = {};
    EXPECT_THAT(with(found, Effect::prevents), ElementsAre("launch", "modes"));
    EXPECT_THAT(named(found, "launch").found, HasSubstr("no compiler"));
    EXPECT_EQ(verdict(checks_of(found)), Effect::prevents);
}

TEST(Doctor, WithoutNvmlMuchIsUnknownAndNothingIsClaimed) {
    auto found = sound();
    found.overview->condition = {};
    found.state = device::ClockState{};
    EXPECT_THAT(with(found, Effect::unknown), ElementsAre("modes", "clock", "processes", "memory"));
    EXPECT_EQ(verdict(checks_of(found)), Effect::none);
    EXPECT_TRUE(named(found, "clock").values.at("sm_mhz").is_null());
}

TEST(Doctor, AContainerWithoutTheDriversLibrariesIsTold) {
    DoctorFindings found;
    found.no_gpu = "no CUDA driver: cannot load libcuda.so.1";
    EXPECT_THAT(named(found, "driver").advice, AllOf(HasSubstr("Install"), HasSubstr("sim:h200")));
    found.host.kernel_driver = true;
    EXPECT_THAT(named(found, "driver").advice, AllOf(HasSubstr("--gpus all"), Not(HasSubstr("Install"))));
    EXPECT_EQ(verdict(checks_of(found)), Effect::prevents);
}

TEST(Doctor, ReadsPermissionsAndCompilersOfAHost) {
    const auto root = std::filesystem::path(::testing::TempDir()) / "doctor_root";
    std::filesystem::remove_all(root);
    EXPECT_EQ(host_facts(root, "").counters_for_root_only, std::nullopt);
    EXPECT_FALSE(host_facts(root, "").kernel_driver);
    std::filesystem::create_directories(root / "proc/driver/nvidia");
    std::filesystem::create_directories(root / "bin/nvcc");  // a folder of that name is no compiler
    std::ofstream(root / "proc/driver/nvidia/version") << "NVRM version: 1\n";
    std::ofstream(root / "proc/driver/nvidia/params") << "RmLogonRC: 0\nRmProfilingAdminOnly: 1\n";
    std::ofstream(root / "bin/ptxas") << "#!/bin/sh\n";
    const auto path = "/nowhere:" + (root / "bin").string();
    EXPECT_EQ(host_facts(root, path).ptxas, "") << "it cannot be executed";
    std::filesystem::permissions(root / "bin/ptxas", std::filesystem::perms::owner_all);
    const auto facts = host_facts(root, path);
    EXPECT_TRUE(facts.kernel_driver);
    EXPECT_EQ(facts.counters_for_root_only, true);
    EXPECT_EQ(facts.ptxas, (root / "bin/ptxas").string());
    EXPECT_EQ(facts.nvcc, "");
    auto found = sound();
    found.host = facts;
    EXPECT_THAT(named(found, "counters").advice, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
    std::filesystem::remove_all(root);
}

TEST(ScanTimes, TakeTheSameGpuOrElseTheLongest) {
    const std::string recorded = R"({"scans":[{"gpu":"A","seconds":{"caches":10,"tlb":1}},)"
                                 R"({"gpu":"B","seconds":{"caches":20}},{"gpu":"C","seconds":{"caches":15}}]})";
    const auto same = scan_time(recorded, {"caches", "tlb", "dance"}, "C");
    ASSERT_TRUE(same);
    EXPECT_EQ(same->seconds, 16);
    EXPECT_THAT(same->gpus, ElementsAre("C", "A"));
    EXPECT_EQ(same->unrecorded, 1);
    EXPECT_EQ(scan_time(recorded, {"caches"}, "Z")->seconds, 20);
    EXPECT_EQ(scan_time(recorded, {"dance"}, "A"), std::nullopt);
}

/// Runs the program with a folder of libraries that the loader finds first.
class DoctorProgram : public testing::ProgramTest {
protected:
    void SetUp() override {
        ProgramTest::SetUp();
        if (const char* const before = std::getenv("LD_LIBRARY_PATH")) before_ = before;
    }
    void TearDown() override {
        before_.empty() ? unsetenv("LD_LIBRARY_PATH") : setenv("LD_LIBRARY_PATH", before_.c_str(), 1);
        ProgramTest::TearDown();
    }
    /// Links the libraries to the names of the driver and of NVML. One library may play both.
    void install(const std::string& driver, const std::string& nvml) const {
        std::filesystem::create_directory(path("lib"));
        std::filesystem::create_symlink(driver, path("lib/libcuda.so.1"));
        std::filesystem::create_symlink(nvml, path("lib/libnvidia-ml.so.1"));
        setenv("LD_LIBRARY_PATH", path("lib").c_str(), 1);
    }

private:
    std::string before_;
};

TEST_F(DoctorProgram, ExitsWith0OnASoundGpu) {
    install(GPUTOMO_FAKE_CUDA_SOUND, GPUTOMO_FAKE_CUDA_SOUND);
    const auto ran = run({"doctor"});
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    for (const char* text : {"570.86.15, for CUDA 13.0", "cuda:0 is Fake GPU 0", "60.0 of 64.0 GiB",
                             "SM 1980 of at most 1980 MHz", "its numbers can be trusted"})
        EXPECT_THAT(ran.out, HasSubstr(text));
    const auto document = json::parse(run({"doctor", "--json", "--device", "cuda:0"}).out);
    EXPECT_EQ(document.at("schema"), "gputomo-doctor-1");
    EXPECT_EQ(document.at("device"), "cuda:0");
    EXPECT_EQ(document.at("can_scan"), true);
    EXPECT_EQ(document.at("trusted"), true);
    EXPECT_EQ(document.at("checks").back().at("name"), "scan");
    EXPECT_GT(document.at("checks").back().at("values").at("seconds"), 10);
}

TEST_F(DoctorProgram, ExitsWith1WhereNumbersCannotBeTrusted) {
    install(GPUTOMO_FAKE_CUDA, GPUTOMO_FAKE_CUDA);
    const auto ran = run({"doctor", "--json"});
    EXPECT_EQ(ran.code, 1) << ran.out;
    const auto document = json::parse(ran.out);
    EXPECT_EQ(document.at("can_scan"), true);
    EXPECT_EQ(document.at("trusted"), false);
    std::vector<std::string> harmful;
    for (const auto& check : document.at("checks"))
        if (check.at("effect") == "harms") harmful.push_back(check.at("name"));
    EXPECT_THAT(harmful, ElementsAre("ecc"));
    EXPECT_EQ(run({"doctor", "--device", "cuda:7"}).code, 3);
}

TEST_F(DoctorProgram, ExitsWith3WithoutADriver) {
    write("broken", "not a library");
    install(path("broken"), path("broken"));
    const auto ran = run({"doctor"});
    EXPECT_EQ(ran.code, 3);
    EXPECT_THAT(ran.out, AllOf(HasSubstr("libcuda.so.1"), HasSubstr("sim:h200"), HasSubstr("No scan can run")));
    const auto document = json::parse(run({"doctor", "--json"}).out);
    EXPECT_EQ(document.at("can_scan"), false);
    EXPECT_EQ(run({"doctor", "--device", "cuda:0"}).code, 3);
}

TEST_F(DoctorProgram, ASimulatedGpuNeedsNoDriver) {
    write("broken", "not a library");
    install(path("broken"), path("broken"));
    const auto ran = run({"doctor", "--device", "gtx980"});
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("sim:gtx980"), HasSubstr("those of the simulated GPU")));
    EXPECT_EQ(run({"doctor", "--device", "sim:nothing"}).code, 2);
    EXPECT_EQ(run({"doctor", "--device", "cuda:x"}).code, 2);
}

}  // namespace doctor_test
}  // namespace
}  // namespace gputomo::cli
