// The modifiers of machine instructions: what each value of a modifier's bits is called.
#pragma once

#include <cstdint>
#include <string_view>

namespace gputomo::sass {

#define GPUTOMO_SASS_CONSTANT_ORDERS "CONSTANT.PRIVATE|CONSTANT.CTA|CONSTANT.CTA.PRIVATE|"
#define GPUTOMO_SASS_STRONG_ORDERS                                                                          \
    "STRONG.SM|STRONG.GPU.PRIVATE|STRONG.GPU|MMIO.GPU|CONSTANT.SM|STRONG.SYS|CONSTANT.SM.PRIVATE|MMIO.SYS|" \
    "CONSTANT.VC|CONSTANT.VC.PRIVATE|CONSTANT.GPU"

// clang-format off
// X(name, texts): one text for each value of the bits, separated by '|'. An empty text is not printed, and '!' marks a
// value that no instruction has. The number of texts decides how many bits the modifier has.
#define GPUTOMO_SASS_MODIFIERS(X)                                                                                    \
    /* Floating point */                                                                                             \
    X(ftz, "|FTZ")                                                                                                   \
    X(denormals, "|FMZ|FTZ|!")                                                                                       \
    X(half_denormals, "|FMZ|FTZ|OOB")                                                                                \
    X(saturate, "|SAT")                                                                                              \
    X(rounding, "|RM|RP|RZ")                                                                                         \
    X(integral, "|FLOOR|CEIL|TRUNC")                                                                                 \
    X(scale, "!|D8|D4|D2||M2|M4|M8")                                                                                 \
    X(nan, "|NAN")                                                                                                   \
    X(xorsign, "|XORSIGN")                                                                                           \
    X(relu, "|RELU")                                                                                                 \
    X(ntz, "|NTZ")                                                                                                   \
    X(half_format, "|F32|BF16_V2|!")                                                                                 \
    X(bf16_v2, "|BF16_V2")                                                                                           \
    X(half_compare_format, "|!|BF16_V2|!")                                                                           \
    X(half_a, "|!|H0_H0|H1_H1")                                                                                      \
    X(half_b, "|!|H0_H0|H1_H1")                                                                                      \
    X(signed_half_b, "|!|H0_H0|H1_H1|H0_NH1|!|!|!")                                                                  \
    X(half_c, "|!|H0_H0|H1_H1")                                                                                      \
    X(half_and, "|H_AND")                                                                                            \
    X(as_float, "|BF")                                                                                               \
    X(h1, "|H1")                                                                                                     \
    X(function, "COS|SIN|EX2|LG2|RCP|RSQ|RCP64H|RSQ64H|SQRT|TANH|!|!|!|!|!|!")                                       \
    X(narrow_function, "COS|SIN|EX2|LG2|RCP|RSQ|!|!|SQRT|TANH|!|!|!|!|!|!")                                          \
    X(function_format, "!|F16|BF16|!")                                                                               \
    /* Conversions */                                                                                                \
    X(to_float_or_f32, "!|F16||F64|BF16|!|!|!")                                                                      \
    X(small_floats, "!|!|!|!|!|!|!|!|!|!|F32.F16|!|BF16.F16|!|!|!|!|F16.F32|!|!|BF16.F32|!|!|!|!|!|!|!|!|!|!|!|!"    \
                    "|F16.BF16|F32.BF16|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!")                  \
    X(wide_floats, "!|!|!|!|!|!|!|!|!|!|!|F64.F16|!|!|!|!|!|!|!|F64.F32|!|!|!|!|!|F16.F64|F32.F64|!|BF16.F64|!|!"    \
                   "|!|!|!|!|F64.BF16|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!")                      \
    X(to_small_float, "!|F16||!|BF16|!|!|!")                                                                         \
    X(from_small_float, "!|F16||!|BF16|!|!|!")                                                                       \
    X(to_small_integer, "U8|S8|U16|S16|U32||!|!")                                                                    \
    X(from_byte, "U8|S8")                                                                                            \
    X(from_short, "U16|S16")                                                                                         \
    X(from_long, "U64|S64")                                                                                          \
    X(to_long, "U64|S64")                                                                                            \
    X(to_integer, "U8|S8|U16|S16|U32||U64|S64")                                                                      \
    X(saturated_integer, "U8|S8|U16|S16")                                                                            \
    X(byte_format, "U8|S8")                                                                                          \
    X(pack_rounding, "|!|!|TRUNC")                                                                                   \
    X(zero_rounding, "|!|!|RZ")                                                                                      \
    X(source_integer, "U32|S32")                                                                                     \
    X(packed_format, "F16|BF16")                                                                                     \
    X(packed_bfloat, "|BF16")                                                                                        \
    X(byte_float, "E5M2|E4M3")                                                                                       \
    X(byte_float_a, "E4M3|E5M2")                                                                                     \
    X(byte_float_b, "E4M3|E5M2")                                                                                     \
    X(satfinite, "|SATFINITE")                                                                                       \
    /* Comparisons and predicates */                                                                                 \
    X(compare, "F|LT|EQ|LE|GT|NE|GE|NUM|NAN|LTU|EQU|LEU|GTU|NEU|GEU|T")                                              \
    X(compare_or_minmax, "MIN|LT|EQ|LE|GT|NE|GE|NUM|NAN|LTU|EQU|LEU|GTU|NEU|GEU|MAX")                                \
    X(integer_compare, "F|LT|EQ|LE|GT|NE|GE|T")                                                                      \
    X(combine, "AND|OR|XOR|!")                                                                                       \
    X(vote, "ALL|ANY|EQ|!")                                                                                          \
    X(byte, "|B1|B2|B3")                                                                                             \
    X(pand, "|PAND")                                                                                                 \
    /* Integers */                                                                                                   \
    X(signedness, "U32|")                                                                                            \
    X(minmax_format, "U32||U16x2|S16x2")                                                                             \
    X(add_format, "|16x2")                                                                                           \
    X(permutation, "|F4E|B4E|RC8|ECL|ECR|RC16|!")                                                                    \
    X(direction, "L|R")                                                                                              \
    X(wrap, "|W")                                                                                                    \
    X(shift_format, "S64|U64|S32|U32")                                                                               \
    X(high, "|HI")                                                                                                   \
    X(shift_amount, "|SH")                                                                                           \
    X(dot_a8, "U8|S8")                                                                                               \
    X(dot_b8, "U8|S8")                                                                                               \
    X(dot_a16, "U16|S16")                                                                                            \
    X(dot_half, "LO|HI")                                                                                             \
    X(difference_format, "U8|")                                                                                      \
    X(accumulate, "|ACC")                                                                                            \
    /* Memory */                                                                                                     \
    X(extended, "|E")                                                                                                \
    X(width, "U8|S8|U16|S16||64|128|!")                                                                              \
    X(wide_width, "!|!|!|!||64|128|!")                                                                               \
    X(constant_width, "U8|S8|U16|S16||64|!|!")                                                                       \
    X(constant_mode, "|IL|IS|ISL")                                                                                   \
    X(load_order, "|" GPUTOMO_SASS_CONSTANT_ORDERS "CONSTANT|" GPUTOMO_SASS_STRONG_ORDERS)                           \
    X(store_order, "|" GPUTOMO_SASS_CONSTANT_ORDERS "STRONG.SM.PRIVATE|" GPUTOMO_SASS_STRONG_ORDERS)                 \
    X(eviction, "EF||EL|LU|EU|NA|!|!")                                                                               \
    X(prefetch, "|LTC64B|LTC128B|LTC256B")                                                                           \
    X(address_scale, "|X4|X8|X16")                                                                                   \
    X(bypass, "BYPASS|")                                                                                             \
    X(zero_fill, "|ZFILL")                                                                                           \
    X(matrix_count, "|2|4|!")                                                                                        \
    X(matrix_layout, "M88|MT88|M816|M832")                                                                           \
    X(matrix_store_layout, "M88|MT88|!|!")                                                                           \
    X(atomic, "ADD|MIN|MAX|INC|DEC|AND|OR|XOR|EXCH|!|!|!|!|!|!|!")                                                   \
    X(global_atomic, "ADD|MIN|MAX|INC|DEC|AND|OR|XOR|EXCH|SAFEADD|!|!|!|!|!|!")                                      \
    X(reduction, "ADD|MIN|MAX|INC|DEC|AND|OR|XOR")                                                                   \
    X(float_atomic, "ADD|MIN|MAX|!")                                                                                 \
    X(atomic_format, "|S32|64|S64|128|!|!|!")                                                                        \
    X(old_atomic_format, "|S32|64|F32.FTZ.RN|F16x2.RN|S64|F64.RN|!")                                                 \
    X(unsigned_atomic_format, "|S32|64|!|128|!|!|!")                                                                 \
    X(reduction_format, "|S32|64|S64|!|!|!|!")                                                                       \
    X(remote_format, "|S32|64|!|!|!|!|!")                                                                            \
    X(exchange, "CAS|CAST|!|CAST.SPIN")                                                                              \
    X(float_format, "F16x2.RN|F16x4.RN|F16x8.RN|BF16x2.RN|BF16x4.RN|BF16x8.RN|!|!|!|F32.FTZ.RN|F32x2.FTZ.RN|"        \
                    "F32x4.FTZ.RN|F32.RN|F32x2.RN|F32x4.RN|F64.RN")                                                  \
    X(space, "G|L|S|D")                                                                                              \
    X(cache_operation, "PF1|PF2|WB|IV|!|RS|!|!|!|PML2|DML2|RML2|!|!|!|!")                                            \
    X(cache_operation_all, "!|!|!|!|IVALL|!|IVALLP|WBALL|!|!|!|!|!|!|!|!")                                           \
    X(cache, "|U|C|I")                                                                                               \
    X(fence, "SC|ALL||MMIO")                                                                                         \
    X(scope, "CTA|SM|GPU|SYS|!|VC|CTA.PARTIAL|!")                                                                    \
    X(async_view, "S|G")                                                                                             \
    X(shuffle, "IDX|UP|DOWN|BFLY")                                                                                   \
    X(redux, "|OR|XOR|SUM|MIN|MAX|!|!")                                                                              \
    X(signed_redux, "|S32")                                                                                          \
    X(u64, "|U64")                                                                                                   \
    /* Textures and surfaces */                                                                                      \
    X(texture, "1D|2D|3D|CUBE|ARRAY_1D|ARRAY_2D|!|ARRAY_CUBE")                                                       \
    X(gathered_texture, "!|2D|!|CUBE|!|ARRAY_2D|!|ARRAY_CUBE")                                                       \
    X(flat_texture, "1D|2D|!|!|ARRAY_1D|ARRAY_2D|!|!")                                                               \
    X(texel, "1D|2D|3D|!|ARRAY_1D|ARRAY_2D|!|!")                                                                     \
    X(texture_mask, "0x0|0x1|0x2|0x3|0x4|0x5|0x6|0x7|0x8|0x9|0xa|0xb|0xc|0xd|0xe|")                                  \
    X(texture_level, "|LZ|LB|LL|!|!|!|!")                                                                            \
    X(texel_level, "!|LZ|!|LL|!|!|!|!")                                                                              \
    X(component, "R|G|B|A")                                                                                          \
    X(nodep, "|NODEP")                                                                                               \
    X(texture_query, "TEX_HEADER_DIMENSION|TEX_HEADER_TEXTURE_TYPE|TEX_HEADER_SAMPLER_POS|!")                        \
    X(surface, "1D|1D_BUFFER|1D_ARRAY|2D|2D_ARRAY|3D|!|!")                                                           \
    X(surface_clamp, "IGN||TRAP|!")                                                                                  \
    X(surface_format, "|S32|U64|!|!|!|!|!")                                                                          \
    X(byte_address, "|BA")                                                                                           \
    /* Control */                                                                                                    \
    X(clear, "|CLEAR")                                                                                               \
    X(defer_blocking, "|DEFER_BLOCKING")                                                                             \
    X(barrier_reduction, "POPC|AND|OR|!")                                                                            \
    X(branch_kind, "|U|DIV|CONV")                                                                                    \
    X(exclusive, "|EXCLUSIVE")                                                                                       \
    X(call_depth, "|INC|DEC|!")                                                                                      \
    X(noinc, "|NOINC")                                                                                               \
    X(nodec, "|NODEC")                                                                                               \
    X(return_half, "Rpc.LO|Rpc.HI")                                                                                  \
    X(exit_kind, "|KEEPREFCOUNT|PREEMPTED|!")                                                                        \
    X(no_atexit, "|NO_ATEXIT")                                                                                       \
    X(sleep_syncs, "|SYNCS")                                                                                         \
    X(sleep_warp, "|WARP")                                                                                           \
    X(sleep_rand, "|RAND")                                                                                           \
    X(trap, "!|!|!|TRAP|INT|!|!|!")                                                                                  \
    X(clock_width, "32|")                                                                                            \
    X(ignore_kill, "|IGNOREKILL")                                                                                    \
    /* Matrices */                                                                                                   \
    X(matrix_shape, "1688|16816|1684|!")                                                                             \
    X(sparse_shape, "1688|16816|!|16832")                                                                            \
    X(bit_shape, "88128|!|168256|!")                                                                                 \
    X(bit_operation, "!|!|AND|!")                                                                                  \
    X(accumulator, "F16|F32")                                                                                        \
    X(multiplicand, "|BF16|TF32|!")                                                                                  \
    X(integer_shape, "8816|!|!|!|16816|16832|!|!")                                                                   \
    X(integer_a, "U8|S8")                                                                                            \
    X(integer_b, "U8|S8")                                                                                            \
    X(double_shape, "8x8x4|16x8x4|16x8x8|16x8x16")                                                                   \
    X(row_major, "ROW|!")                                                                                            \
    X(column_major, "!|COL")                                                                                         \
    X(warpgroup_shape, "64x8x16|64x16x16|64x24x16|64x32x16|64x40x16|64x48x16|64x56x16|64x64x16|64x72x16|64x80x16|"   \
                       "64x88x16|64x96x16|64x104x16|64x112x16|64x120x16|64x128x16|64x136x16|64x144x16|64x152x16|"    \
                       "64x160x16|64x168x16|64x176x16|64x184x16|64x192x16|64x200x16|64x208x16|64x216x16|64x224x16|"  \
                       "64x232x16|64x240x16|64x248x16|64x256x16|64x8x8|64x16x8|64x24x8|64x32x8|64x40x8|64x48x8|"     \
                       "64x56x8|64x64x8|64x72x8|64x80x8|64x88x8|64x96x8|64x104x8|64x112x8|64x120x8|64x128x8|"        \
                       "64x136x8|64x144x8|64x152x8|64x160x8|64x168x8|64x176x8|64x184x8|64x192x8|64x200x8|64x208x8|"  \
                       "64x216x8|64x224x8|64x232x8|64x240x8|64x248x8|64x256x8")                                      \
    X(warpgroup_byte_shape, "64x8x32|64x16x32|64x24x32|64x32x32|64x40x32|64x48x32|64x56x32|64x64x32|64x72x32|"       \
                            "64x80x32|64x88x32|64x96x32|64x104x32|64x112x32|64x120x32|64x128x32|64x136x32|"          \
                            "64x144x32|64x152x32|64x160x32|64x168x32|64x176x32|64x184x32|64x192x32|64x200x32|"       \
                            "64x208x32|64x216x32|64x224x32|64x232x32|64x240x32|64x248x32|64x256x32")                 \
    X(warpgroup_integer_shape, "64x8x32|!|!|64x16x32|!|!|64x24x32|!|!|64x32x32|!|!|64x48x32|!|!|64x64x32|!|!"        \
                               "|64x80x32|!|!|64x96x32|!|!|64x112x32|!|!|64x128x32|!|!|64x144x32|!|!|64x160x"        \
                               "32|!|!|64x176x32|!|!|64x192x32|!|!|64x208x32|!|!|64x224x32|!|!|64x240x32|!|!"        \
                               "|64x256x32|!|!|!|!|!|!|!|!|!|!|!|!")                                                 \
    X(warpgroup_bit_shape, "64x8x256|64x16x256|64x24x256|64x32x256|64x48x256|64x64x256|64x80x256|64x96x256|"        \
                           "64x112x256|64x128x256|64x144x256|64x160x256|64x176x256|64x192x256|64x208x256|"          \
                           "64x224x256|64x240x256|64x256x256|!|!|!|!|!|!|!|!|!|!|!|!|!|!")                          \
    X(sparse_group_shape, "64x8x16|64x16x16|64x24x16|64x32x16|64x40x16|64x48x16|64x56x16|64x64x16|64x72x16|"         \
                          "64x80x16|64x88x16|64x96x16|64x104x16|64x112x16|64x120x16|64x128x16|64x136x16|64x144x16|"  \
                          "64x152x16|64x160x16|64x168x16|64x176x16|64x184x16|64x192x16|64x200x16|64x208x16|"         \
                          "64x216x16|64x224x16|64x232x16|64x240x16|64x248x16|64x256x16|!|!|!|!|!|!|!|!|!|!|!|!|!|"   \
                          "!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|64x8x32|64x16x32|64x24x32|64x32x32|64x40x32|"       \
                          "64x48x32|64x56x32|64x64x32|64x72x32|64x80x32|64x88x32|64x96x32|64x104x32|64x112x32|"      \
                          "64x120x32|64x128x32|64x136x32|64x144x32|64x152x32|64x160x32|64x168x32|64x176x32|"         \
                          "64x184x32|64x192x32|64x200x32|64x208x32|64x216x32|64x224x32|64x232x32|64x240x32|"         \
                          "64x248x32|64x256x32|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!")     \
    X(sparse_byte_shape, "!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|!|64x8x64|64x16x64|"         \
                         "64x24x64|64x32x64|64x40x64|64x48x64|64x56x64|64x64x64|64x72x64|64x80x64|64x88x64|"         \
                         "64x96x64|64x104x64|64x112x64|64x120x64|64x128x64|64x136x64|64x144x64|64x152x64|"           \
                         "64x160x64|64x168x64|64x176x64|64x184x64|64x192x64|64x200x64|64x208x64|64x216x64|"          \
                         "64x224x64|64x232x64|64x240x64|64x248x64|64x256x64")                                        \
    X(sparse_integer_shape, "!|64x8x64|!|!|64x16x64|!|!|64x24x64|!|!|64x32x64|!|!|64x48x64|!|!|64x64x64|!|!|"        \
                            "64x80x64|!|!|64x96x64|!|!|64x112x64|!|!|64x128x64|!|!|64x144x64|!|!|64x160x64|!|!|"     \
                            "64x176x64|!|!|64x192x64|!|!|64x208x64|!|!|64x224x64|!|!|64x240x64|!|!|64x256x64|!|!|"   \
                            "!|!|!|!|!|!|!|!|!")                                                                     \
    X(transpose_a, "|tnspA")                                                                                         \
    X(transpose_b, "|tnspB")                                                                                         \
    X(negate_a, "|negA")                                                                                             \
    X(negate_b, "|negB")                                                                                             \
    /* Asynchronous copies and barriers in memory */                                                                 \
    X(dimensions, "1D|2D|3D|4D|5D|!|!|!")                                                                            \
    X(im2col, "|IM2COL")                                                                                             \
    X(multicast, "|MULTICAST")                                                                                       \
    X(copy_to, "G|S")                                                                                                \
    X(copy_from, "G|S")                                                                                              \
    X(bulk_format, "|S32|U64|S64|F16.RN|F32.RN|F32.FTZ.RN|F64.RN|BF16.RN|!|!|!|!|!|!|!")                             \
    X(tensor_map, "IV|PF")                                                                                           \
    X(arrival, "|A1T0|A0T1|A0TR|A0TX|ART0|!|!")                                                                      \
    X(arrival_effect, "|TMASK|RED|!")                                                                                \
    X(opt_out, "|OPTOUT")                                                                                            \
    X(try_wait, "|TRYWAIT")                                                                                          \
    X(arrive_count, "|ARVCNT|TRANSCNT|!")

// clang-format on

enum class Modifier : std::uint8_t {
#define X(name, texts) name,
    GPUTOMO_SASS_MODIFIERS(X)
#undef X
        count
};

/// "ftz"
[[nodiscard]] std::string_view name_of(Modifier modifier);
/// The text of a value; empty where it is not printed and "!" where no instruction has it.
[[nodiscard]] std::string_view text_of(Modifier modifier, std::uint64_t value);
/// Width of the modifier's field in bits.
[[nodiscard]] int width_of(Modifier modifier);

}  // namespace gputomo::sass
