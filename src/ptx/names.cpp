#include "ptx/names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace gputomo::ptx {
namespace {

template <class T>
struct Named {
    std::string_view name;
    T value;
};

struct TypeFacts {
    std::string_view name;
    Type value;
    std::int8_t size;
    char family;  // 'b'its, 'i'nteger, 'f'loat, 'p'redicate, 0
};

constexpr TypeFacts kTypes[] = {
    {"", Type::none, 0, 0},           {"pred", Type::pred, 0, 'p'},   {"b8", Type::b8, 1, 'b'},
    {"b16", Type::b16, 2, 'b'},       {"b32", Type::b32, 4, 'b'},     {"b64", Type::b64, 8, 'b'},
    {"b128", Type::b128, 16, 'b'},    {"u8", Type::u8, 1, 'i'},       {"u16", Type::u16, 2, 'i'},
    {"u32", Type::u32, 4, 'i'},       {"u64", Type::u64, 8, 'i'},     {"s8", Type::s8, 1, 'i'},
    {"s16", Type::s16, 2, 'i'},       {"s32", Type::s32, 4, 'i'},     {"s64", Type::s64, 8, 'i'},
    {"f16", Type::f16, 2, 'f'},       {"f16x2", Type::f16x2, 4, 'f'}, {"bf16", Type::bf16, 2, 'f'},
    {"bf16x2", Type::bf16x2, 4, 'f'}, {"f32", Type::f32, 4, 'f'},     {"f64", Type::f64, 8, 'f'},
};

// A value may have several names; the first one is printed.
constexpr Named<Space> kSpaces[] = {
    {"", Space::none},
    {"", Space::generic},
    {"reg", Space::reg},
    {"param", Space::param},
    {"global", Space::global},
    {"shared", Space::shared},
    {"local", Space::local},
    {"const", Space::constant},
    {"shared::cta", Space::shared},
    {"param::entry", Space::param},
};

using enum Opcode;
constexpr Named<Opcode> kOpcodes[] = {
    {"add", add},
    {"sub", sub},
    {"mul", mul},
    {"mul24", mul24},
    {"mad", mad},
    {"mad24", mad24},
    {"sad", sad},
    {"div", div},
    {"rem", rem},
    {"abs", abs},
    {"neg", neg},
    {"min", min},
    {"max", max},
    {"fma", fma},
    {"addc", addc},
    {"subc", subc},
    {"madc", madc},
    {"rcp", rcp},
    {"sqrt", sqrt},
    {"rsqrt", rsqrt},
    {"sin", sin},
    {"cos", cos},
    {"lg2", lg2},
    {"ex2", ex2},
    {"tanh", tanh},
    {"copysign", copysign},
    {"testp", testp},
    {"and", and_},
    {"or", or_},
    {"xor", xor_},
    {"not", not_},
    {"cnot", cnot},
    {"shl", shl},
    {"shr", shr},
    {"shf", shf},
    {"lop3", lop3},
    {"prmt", prmt},
    {"bfe", bfe},
    {"bfi", bfi},
    {"brev", brev},
    {"popc", popc},
    {"clz", clz},
    {"bfind", bfind},
    {"szext", szext},
    {"dp4a", dp4a},
    {"dp2a", dp2a},
    {"setp", setp},
    {"set", set},
    {"selp", selp},
    {"slct", slct},
    {"mov", mov},
    {"cvt", cvt},
    {"cvta", cvta},
    {"isspacep", isspacep},
    {"ld", ld},
    {"ldu", ldu},
    {"st", st},
    {"prefetch", prefetch},
    {"atom", atom},
    {"red", red},
    {"tex", tex},
    {"cp", cp_async},
    {"bra", bra},
    {"brx", brx},
    {"call", call},
    {"ret", ret},
    {"exit", exit},
    {"trap", trap},
    {"bar", bar},
    {"barrier", barrier},
    {"membar", membar},
    {"fence", fence},
    {"vote", vote},
    {"match", match},
    {"shfl", shfl},
    {"redux", redux},
    {"activemask", activemask},
    {"elect", elect},
    {"nanosleep", nanosleep},
    {"mapa", mapa},
    {"istypep", istypep},
    {"mbarrier", mbarrier},
    {"ldmatrix", ldmatrix},
    {"mma", mma},
    {"wgmma", wgmma},
    {"pmevent", pmevent},
};

using Special = SpecialRegister;
constexpr Named<Special> kSpecials[] = {
    {"%tid.x", Special::tid_x},
    {"%tid.y", Special::tid_y},
    {"%tid.z", Special::tid_z},
    {"%ntid.x", Special::ntid_x},
    {"%ntid.y", Special::ntid_y},
    {"%ntid.z", Special::ntid_z},
    {"%ctaid.x", Special::ctaid_x},
    {"%ctaid.y", Special::ctaid_y},
    {"%ctaid.z", Special::ctaid_z},
    {"%nctaid.x", Special::nctaid_x},
    {"%nctaid.y", Special::nctaid_y},
    {"%nctaid.z", Special::nctaid_z},
    {"%laneid", Special::laneid},
    {"%warpid", Special::warpid},
    {"%nwarpid", Special::nwarpid},
    {"%smid", Special::smid},
    {"%nsmid", Special::nsmid},
    {"%gridid", Special::gridid},
    {"%lanemask_eq", Special::lanemask_eq},
    {"%lanemask_le", Special::lanemask_le},
    {"%lanemask_lt", Special::lanemask_lt},
    {"%lanemask_ge", Special::lanemask_ge},
    {"%lanemask_gt", Special::lanemask_gt},
    {"%clock", Special::clock},
    {"%clock_hi", Special::clock_hi},
    {"%clock64", Special::clock64},
    {"%globaltimer", Special::globaltimer},
    {"%globaltimer_lo", Special::globaltimer_lo},
    {"%globaltimer_hi", Special::globaltimer_hi},
    {"%dynamic_smem_size", Special::dynamic_smem_size},
    {"%total_smem_size", Special::total_smem_size},
};

template <class Row, std::size_t N, class T>
std::string_view find_name(const Row (&table)[N], T value) {
    const auto* row = std::ranges::find(table, value, &Row::value);
    return row == std::end(table) ? std::string_view{} : row->name;
}

template <class Row, std::size_t N>
auto find_value(const Row (&table)[N], std::string_view name) -> std::optional<decltype(Row::value)> {
    if (name.empty()) return std::nullopt;
    const auto* row = std::ranges::find(table, name, &Row::name);
    if (row == std::end(table)) return std::nullopt;
    return row->value;
}

const TypeFacts& facts(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

consteval bool types_are_in_order() {
    for (std::size_t i = 0; i < std::size(kTypes); ++i)
        if (static_cast<std::size_t>(kTypes[i].value) != i) return false;
    return true;
}
static_assert(types_are_in_order(), "facts() indexes kTypes by the enumerator");

}  // namespace

std::string_view name_of(Type type) { return facts(type).name; }
std::string_view name_of(Space space) { return find_name(kSpaces, space); }
std::string_view name_of(Opcode opcode) { return find_name(kOpcodes, opcode); }
std::string_view name_of(SpecialRegister reg) { return find_name(kSpecials, reg); }

std::optional<Type> type_named(std::string_view name) { return find_value(kTypes, name); }
std::optional<Space> space_named(std::string_view name) { return find_value(kSpaces, name); }
std::optional<Opcode> opcode_named(std::string_view name) { return find_value(kOpcodes, name); }
std::optional<SpecialRegister> special_register_named(std::string_view name) { return find_value(kSpecials, name); }

Bytes size_of(Type type) { return Bytes{facts(type).size}; }
bool is_float(Type type) { return facts(type).family == 'f'; }
bool is_bits(Type type) { return facts(type).family == 'b'; }
Type type_of(SpecialRegister reg) {
    const bool wide = reg == Special::clock64 || reg == Special::globaltimer || reg == Special::gridid;
    return wide ? Type::u64 : Type::u32;
}

}  // namespace gputomo::ptx
