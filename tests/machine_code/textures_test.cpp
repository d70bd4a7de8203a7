// Texture fetches as machine code. What is expected follows from the formulas of the CUDA programming guide.
#include "launched.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <cmath>

namespace gputomo::sim {
namespace {

using Point = std::array<float, 4>;
using Outside = TextureObject::Outside;
using Element = TextureObject::Element;

constexpr std::uint64_t kHandle = 0x100003;
constexpr float kQuarter = 64.0F / 256;

class Textures : public testing::Test {
protected:
    static void SetUpTestSuite() { fixture_ = std::make_unique<Fixture>("textures.cubin"); }
    static void TearDownTestSuite() { fixture_.reset(); }

    /// Texels in memory of their own, as long as the test runs.
    template <class T>
    TextureObject with_texels(TextureObject texture, const std::vector<T>& texels) {
        texels_.emplace_back(*fixture_->gpu, Bytes(static_cast<std::int64_t>(sizeof(T) * texels.size())));
        texels_.back().write(texels);
        texture.address = texels_.back().address();
        if (texture.pitch == 0) texture.pitch = texture.width * texture.texel_bytes();
        return texture;
    }

    /// What each thread reads at its point.
    static std::vector<Point> read(const std::string& kernel, const TextureObject& texture,
                                   const std::vector<Point>& points) {
        fixture_->gpu->texture_at(kHandle, texture);
        return fixture_->run<Point, std::uint64_t>(kernel, static_cast<std::uint32_t>(points.size()),
                                                   {points, std::vector<Point>(points.size())}, {kHandle})[1];
    }
    /// The first channel of what is read.
    static std::vector<float> first(const std::string& kernel, const TextureObject& texture,
                                    const std::vector<Point>& points) {
        std::vector<float> values;
        for (const Point& point : read(kernel, texture, points)) values.push_back(point[0]);
        return values;
    }

    static inline std::unique_ptr<Fixture> fixture_;
    std::vector<device::Buffer> texels_;
};

using testing::ElementsAre;

std::vector<Point> at_x(const std::vector<float>& coordinates) {
    std::vector<Point> points;
    for (const float x : coordinates) points.push_back({x});
    return points;
}

TextureObject row_of_floats(std::uint64_t width) {
    return {.memory = TextureObject::Memory::array, .element = Element::f32, .width = width};
}

TEST_F(Textures, LinearMemoryIsFetchedByIndexAndIsZeroOutside) {
    const auto texture = with_texels<float>({.element = Element::f32, .channels = 4, .width = 3},
                                            {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
    fixture_->gpu->texture_at(kHandle, texture);
    const auto found = fixture_->run<std::uint32_t, std::uint64_t>(
        "fetch", 5, {{2, 0, 1, 3, 0xFFFFFFFF}, std::vector<std::uint32_t>(20)}, {kHandle});
    for (std::size_t i = 0; i < 20; ++i) {
        const auto value = std::bit_cast<float>(found[1][i]);
        const std::array<float, 5> begins{20, 0, 10, 0, 0};
        EXPECT_EQ(value, i < 12 ? begins[i / 4] + static_cast<float>(i % 4) : 0.0F) << i;
    }
}

TEST_F(Textures, BytesAreReadAsIntegers) {
    const auto texture =
        with_texels<std::uint8_t>({.element = Element::u8, .width = 4, .as_integer = true}, {7, 200, 0, 255});
    fixture_->gpu->texture_at(kHandle, texture);
    EXPECT_THAT(
        (fixture_->run<std::uint32_t, std::uint64_t>("fetch_byte", 4, {{1, 3, 0, 2}, {9, 9, 9, 9}}, {kHandle})[1]),
        ElementsAre(200, 255, 7, 0));
}

TEST_F(Textures, TheNearestTexelIsReadAtAPoint) {
    const auto texture = with_texels<float>(row_of_floats(4), {10, 20, 30, 40});
    EXPECT_THAT(first("sample_1d", texture, at_x({0, 0.99F, 1, 2.5F, 3.99F, 4, 100, -0.5F, -100, NAN})),
                ElementsAre(10, 10, 20, 30, 40, 40, 40, 10, 10, 10));
}

TEST_F(Textures, NormalizedCoordinatesWrapMirrorOrGiveTheBorder) {
    TextureObject texture = with_texels<float>(row_of_floats(4), {10, 20, 30, 40});
    texture.normalized = true;
    const auto points = at_x({0.1F, 0.9F, 1.1F, -0.1F, 1.9F, -1.1F, 2.1F});
    texture.outside[0] = Outside::wrap;
    EXPECT_THAT(first("sample_1d", texture, points), ElementsAre(10, 40, 10, 40, 40, 40, 10));
    texture.outside[0] = Outside::mirror;
    EXPECT_THAT(first("sample_1d", texture, points), ElementsAre(10, 40, 40, 10, 10, 40, 10));
    texture.outside[0] = Outside::clamp;
    EXPECT_THAT(first("sample_1d", texture, points), ElementsAre(10, 40, 40, 10, 40, 10, 40));
    texture.outside[0] = Outside::border;
    texture.border = {-1, -2, -3, -4};
    EXPECT_THAT(first("sample_1d", texture, points), ElementsAre(10, 40, -1, -1, -1, -1, -1));
}

TEST_F(Textures, WrappingNeedsNormalizedCoordinates) {
    TextureObject texture = with_texels<float>(row_of_floats(4), {10, 20, 30, 40});
    texture.outside[0] = Outside::wrap;
    EXPECT_THAT(first("sample_1d", texture, at_x({5.5F, -1})), ElementsAre(40, 10));
}

TEST_F(Textures, ALinearFilterWeightsNeighboursInStepsOf256) {
    TextureObject texture = with_texels<float>(row_of_floats(4), {10, 20, 30, 40});
    texture.linear_filter = true;
    EXPECT_THAT(first("sample_1d", texture, at_x({0.5F, 1, 1.25F, 3.5F, 3.75F, 0.25F, 2.501F})),
                ElementsAre(10, 15, 17.5F, 40, 40, 10, 30));
    EXPECT_THAT(first("sample_1d", texture, at_x({2.503F})), ElementsAre(30 + 10.0F / 256));
    texture.outside[0] = Outside::border;
    EXPECT_THAT(first("sample_1d", texture, at_x({0.25F, 3.75F})), ElementsAre(7.5F, 30));
    texture.normalized = true;
    texture.outside[0] = Outside::wrap;
    EXPECT_THAT(first("sample_1d", texture, at_x({0, 1, 0.25F})), ElementsAre(25, 25, 15));
}

TEST_F(Textures, RowsOfTwoDimensionsLieAPitchApart) {
    TextureObject texture{
        .memory = TextureObject::Memory::rows, .element = Element::f32, .width = 3, .height = 2, .pitch = 32};
    texture = with_texels<float>(texture, {1, 2, 3, 0, 0, 0, 0, 0, 4, 5, 6});
    EXPECT_THAT(first("sample_2d", texture, {{0.5F, 0.5F}, {2.5F, 0.5F}, {0.5F, 1.5F}, {2.5F, 1.5F}, {9, 9}}),
                ElementsAre(1, 3, 4, 6, 6));
    texture.linear_filter = true;
    EXPECT_THAT(first("sample_2d", texture, {{1, 1}, {1.5F, 1}, {1.75F, 0.5F}}), ElementsAre(3, 3.5F, 2 + kQuarter));
}

TEST_F(Textures, ShortIntegersBecomeFloatsFromMinusOneToOne) {
    TextureObject texture{
        .memory = TextureObject::Memory::array, .element = Element::u8, .channels = 4, .width = 2, .height = 1};
    texture = with_texels<std::uint8_t>(texture, {0, 51, 102, 255, 255, 0, 1, 2});
    EXPECT_THAT(read("sample_2d", texture, {{0.5F, 0.5F}})[0], ElementsAre(0, 51.0F / 255, 102.0F / 255, 1));
    EXPECT_THAT(read("two_channels", texture, {{1.5F, 0.5F}})[0], ElementsAre(0, 2.0F / 255, 0, 0));
    texture.linear_filter = true;
    EXPECT_THAT(read("sample_2d", texture, {{1, 0.5F}})[0][0], 32768.0F / 65535);
    TextureObject shorts{.memory = TextureObject::Memory::array, .element = Element::s16, .width = 3, .height = 1};
    shorts = with_texels<std::int16_t>(shorts, {-32768, 32767, -16384});
    EXPECT_THAT(first("sample_2d", shorts, {{0.5F, 0.5F}, {1.5F, 0.5F}, {2.5F, 0.5F}}),
                ElementsAre(-1, 1, -16384.0F / 32767));
    shorts.as_integer = true;
    EXPECT_EQ(std::bit_cast<std::int32_t>(first("sample_2d", shorts, {{0.5F, 0.5F}})[0]), -32768);
}

/// What an H100 gives for these weights.
TEST_F(Textures, WeightsOfTwoDimensionsAreRoundedProducts) {
    TextureObject texture{
        .memory = TextureObject::Memory::array, .element = Element::f32, .channels = 4, .width = 2, .height = 2};
    texture = with_texels<float>(texture, {256, 0, 0, 0, 0, 256, 0, 0, 0, 0, 256, 0, 0, 0, 0, 256});
    texture.linear_filter = true;
    const auto at = [](int weight) { return 0.5F + static_cast<float>(weight) / 256; };
    const auto found = read("sample_2d", texture, {{at(19), at(97)}, {at(59), at(89)}, {at(173), at(25)}});
    EXPECT_THAT(found[0], ElementsAre(147, 12, 90, 7));
    EXPECT_THAT(found[1], ElementsAre(129, 38, 68, 21));
    EXPECT_THAT(found[2], ElementsAre(75, 156, 8, 17));
}

TEST_F(Textures, TheBorderHasTheFormatOfTheTexels) {
    TextureObject texture{
        .memory = TextureObject::Memory::array, .element = Element::u8, .channels = 2, .width = 1, .height = 1};
    texture = with_texels<std::uint8_t>(texture, {9, 9});
    texture.outside = {Outside::border, Outside::border, Outside::border};
    texture.border = {0.5F, 5, 0.5F, 7};
    EXPECT_THAT(read("sample_2d", texture, {{9, 9}})[0], ElementsAre(127.0F / 255, 1, 0, 0));
}

TEST_F(Textures, HalvesAreWidened) {
    TextureObject texture{
        .memory = TextureObject::Memory::array, .element = Element::f16, .channels = 2, .width = 1, .height = 1};
    texture = with_texels<std::uint16_t>(texture, {0x3e00, 0xc000});
    EXPECT_THAT(read("sample_2d", texture, {{0.5F, 0.5F}})[0], ElementsAre(1.5F, -2, 0, 0));
}

TEST_F(Textures, ThreeDimensionsAreFiltered) {
    TextureObject texture = row_of_floats(2);
    texture.height = texture.depth = 2;
    texture = with_texels<float>(texture, {0, 1, 2, 3, 4, 5, 6, 7});
    EXPECT_THAT(first("sample_3d", texture, {{1.5F, 0.5F, 1.5F}, {0.5F, 1.5F, 0.5F}}), ElementsAre(5, 2));
    texture.linear_filter = true;
    EXPECT_THAT(first("sample_3d", texture, {{1, 1, 1}, {0.5F, 0.5F, 1}, {1, 1.5F, 0.5F}}), ElementsAre(3.5F, 2, 2.5F));
}

TEST_F(Textures, LayersAreNotFiltered) {
    TextureObject texture = row_of_floats(2);
    texture.height = 1;
    texture.depth = 2;
    texture.layered = texture.linear_filter = true;
    texture = with_texels<float>(texture, {0, 10, 100, 110});
    std::vector<Point> points(12, Point{1, 0.5F});
    const auto found = first("sample_layers", texture, points);
    EXPECT_EQ(found[0], 5);
    EXPECT_EQ(found[4], 105);
    EXPECT_EQ(found[11], 105) << "a layer that does not exist is the last one";
}

TEST_F(Textures, FourTexelsAreGathered) {
    TextureObject texture{
        .memory = TextureObject::Memory::array, .element = Element::f32, .channels = 2, .width = 2, .height = 2};
    texture = with_texels<float>(texture, {0, 1, 0, 2, 0, 3, 0, 4});
    EXPECT_THAT(read("gather_green", texture, {{1, 1}})[0], ElementsAre(3, 4, 2, 1));
}

TEST_F(Textures, ThreadsMayHaveDifferentTextures) {
    std::vector<std::uint64_t> handles;
    std::vector<Point> points;
    for (std::uint64_t i = 0; i < 40; ++i) {
        handles.push_back(kHandle + i % 3);
        points.push_back({0.5F, 0.5F});
    }
    for (std::uint64_t i = 0; i < 3; ++i) {
        TextureObject texture = row_of_floats(1);
        texture.height = 1;
        fixture_->gpu->texture_at(kHandle + i, with_texels<float>(texture, {static_cast<float>(i) + 1}));
    }
    device::Buffer table(*fixture_->gpu, Bytes(8 * 40));
    table.write(handles);
    const auto found =
        fixture_->run<Point, std::uint64_t>("of_threads", 40, {points, std::vector<Point>(40)}, {table.address()})[1];
    for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(found[i][0], static_cast<float>(i % 3 + 1)) << i;
}

TEST_F(Textures, FetchesTakeThePathOfTextures) {
    TextureObject texture = row_of_floats(64);
    texture.height = 32;
    std::vector<float> texels(64 * 32);
    for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i % 7);
    fixture_->gpu->texture_at(kHandle, with_texels<float>(texture, texels));
    device::Buffer points(*fixture_->gpu, Bytes(16 * 32)), out(*fixture_->gpu, Bytes(16 * 32));
    device::Launch launch{.grid = {1}, .block = {32}, .time_limit = std::chrono::seconds(60)};
    launch.arguments.add(points.address()).add(out.address()).add(kHandle).add(64);
    fixture_->module->kernel("row_sums").launch(launch);
    const auto found = out.read<Point>(32);
    for (std::size_t row = 0; row < 32; ++row) {
        float sum = 0;
        for (std::size_t x = 0; x < 64; ++x) sum += texels[row * 64 + x];
        EXPECT_EQ(found[row][0], sum);
    }
    const auto latency = static_cast<std::uint64_t>(
        *completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine.paths.at("texture").memory_latency);
    EXPECT_GT(fixture_->gpu->counters().cycles, latency);
}

TEST_F(Textures, AnUnknownHandleAndAFormatAreRefused) {
    try {
        (void)fixture_->run<Point, std::uint64_t>("sample_2d", 1, {{Point{}}, {Point{}}}, {0x42});
        FAIL() << "a texture object that does not exist was read";
    } catch (const DeviceError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("no texture object has the handle 0x42"));
    }
    TextureObject texture = row_of_floats(1);
    texture.channels = 3;
    EXPECT_THROW(fixture_->gpu->texture_at(kHandle, texture), InputError);
    texture.channels = 1;
    texture.element = static_cast<Element>(0x21);
    EXPECT_THROW(fixture_->gpu->texture_at(kHandle, texture), InputError);
}

}  // namespace
}  // namespace gputomo::sim
