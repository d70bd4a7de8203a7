// The representation of a kernel that prediction works on, made from PTX or from a listing of machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::predict {

enum class Kind : std::uint8_t {
    arithmetic,
    memory,
    barrier,  ///< a barrier of the block
    branch,
    exit,
    free,  ///< takes no issue slot, because the compiler turns it into an operand
};

enum class MemorySpace : std::uint8_t { global, local, shared, constant };

struct Access {
    MemorySpace space = MemorySpace::global;
    int bytes = 4;     ///< bytes that one thread accesses
    bool load = true;  ///< true for atomics that return a value, too
    /// Bytes from the address of one thread to that of the next, if known; 0: all threads access one address.
    std::optional<std::int64_t> stride;
};

struct Instruction {
    Kind kind = Kind::arithmetic;
    std::string text;  ///< source text, for messages and tables
    int line = 0;
    std::string operation;  ///< PTX mnemonic whose cost applies: a key of machine.operations, or a relative of one
    std::optional<Access> access;
    std::vector<std::uint32_t> reads, writes;  ///< register numbers
    bool guarded = false;                      ///< has a guard predicate
    std::size_t target = 0;                    ///< index of the instruction that a branch goes to
};

struct Code {
    std::string kernel;
    std::string origin;  ///< file name
    std::vector<Instruction> instructions;
    std::map<std::size_t, std::string> labels;  ///< by the index of the instruction that follows the label
    std::map<std::size_t, double>
        trip_counts;                       ///< of loops whose code tells it, by the index of their first instruction
    std::size_t registers = 0;             ///< register numbers in reads and writes are below this
    std::int64_t shared_bytes = 0;         ///< static shared memory of a block
    std::vector<std::string> assumptions;  ///< assumptions that the prediction rests on, one sentence each
};

}  // namespace gputomo::predict
