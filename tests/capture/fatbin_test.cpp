#include "fatbins.hpp"

#include "capture/decompress.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

namespace gputomo::capture {
namespace {

using namespace testing;
using Compression = FatbinMember::Compression;
using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(Fatbin, MembersAreReadWhateverTheirCompressionAndHeader) {
    const std::string cubin = fixture("opcodes.sm_90.cubin"), older = fixture("opcodes.sm_75.cubin");
    const std::string ptx = fixture("opcodes.ptx");
    const std::string whole =
        fatbin(member(2, 75, older) + member(2, 90, cubin, Compression::zstd, 112) +
               member(2, 80, cubin, Compression::lz4) + member(1, 90, ptx, Compression::zstd, 80));
    const auto all = members(bytes_of(whole));
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[0].sm, 75);
    EXPECT_EQ(payload(all[0]).substr(0, older.size()), older);
    EXPECT_EQ(payload(all[1]), cubin);
    EXPECT_EQ(all[2].compression, Compression::lz4);
    EXPECT_EQ(payload(all[2]), cubin);
    EXPECT_EQ(all[3].kind, FatbinMember::Kind::ptx);
    EXPECT_EQ(payload(all[3]), ptx);
}

TEST(Fatbin, TheDriversChoiceIsTheNewestMachineCodeOfTheMajorVersionThenPtx) {
    const std::string whole = fatbin(member(1, 75, "ptx 75") + member(2, 80, "code 80") + member(2, 86, "code 86") +
                                     member(2, 89, "code 89") + member(2, 90, "code 90") + member(1, 90, "ptx 90"));
    const auto chosen_for = [&](int sm) {
        std::string names;
        for (const auto& candidate : candidates(members(bytes_of(whole)), sm))
            names += payload(candidate).substr(0, candidate.kind == FatbinMember::Kind::ptx ? 6 : 7) + ";";
        return names;
    };
    EXPECT_EQ(chosen_for(86), "code 86;code 80;ptx 75;");
    EXPECT_EQ(chosen_for(90), "code 90;ptx 90;ptx 75;");
    EXPECT_EQ(chosen_for(120), "ptx 90;ptx 75;");
    EXPECT_EQ(chosen_for(70), "");
}

TEST(Fatbin, DamageIsReportedWithItsPlace) {
    std::string whole = fatbin(member(2, 90, fixture("opcodes.sm_90.cubin"), Compression::zstd));
    EXPECT_THAT(error_of([&] { (void)members(bytes_of(whole.substr(0, 10))); }), HasSubstr("a header of 16 bytes"));
    EXPECT_THAT(error_of([&] { (void)members(bytes_of(whole.substr(0, whole.size() - 8))); }),
                HasSubstr("at offset 8: expected members of at most"));
    std::string long_payload = whole;
    put<std::uint64_t>(long_payload, 16 + 8, whole.size());
    EXPECT_THAT(error_of([&] { (void)members(bytes_of(long_payload)); }),
                HasSubstr("at offset 24: expected a payload"));
    whole[16 + 64 + 20] ^= 0x55;
    whole[16 + 64 + 21] ^= 0x55;
    EXPECT_THAT(error_of([&] { (void)payload(members(bytes_of(whole)).front()); }), HasSubstr("zstd is damaged"));
}

TEST(Fatbin, MembersThatClaimHugeSizesAreRefused) {
    std::string whole = fatbin(member(2, 90, "abc", Compression::lz4));
    put<std::uint64_t>(whole, 16 + 56, std::uint64_t{1} << 40);
    EXPECT_THAT(error_of([&] { (void)payload(members(bytes_of(whole)).front()); }), HasSubstr("expected at most"));
}

TEST(Fatbin, ImagesAreRecognised) {
    EXPECT_EQ(image_kind(bytes_of(fixture("opcodes.sm_90.cubin"))), ImageKind::cubin);
    EXPECT_EQ(image_kind(bytes_of("// PTX")), ImageKind::ptx);
    EXPECT_EQ(image_kind(bytes_of(fatbin(""))), ImageKind::fatbin);
    EXPECT_EQ(image_kind(bytes_of(std::string("\xb1\x43\x62\x46", 4))), ImageKind::fatbin_wrapper);
    EXPECT_EQ(image_kind(bytes_of(std::string("\0\0\0\0", 4))), ImageKind::unknown);
    EXPECT_EQ(image_kind(bytes_of("a")), ImageKind::unknown);
}

}  // namespace
}  // namespace gputomo::capture
