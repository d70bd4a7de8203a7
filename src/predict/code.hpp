// A kernel as prediction sees it, from PTX or from a listing of machine code: what each instruction reads, writes,
// occupies and accesses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::predict {

enum class Kind : std::uint8_t {
    arithmetic,
    memory,
    barrier,  ///< of the block
    branch,
    exit,
    free,  ///< takes no issue slot: what a compiler turns into an operand
};

enum class Place : std::uint8_t { global, local, shared, constant };

struct Access {
    Place place = Place::global;
    int bytes = 4;     ///< of one thread
    bool load = true;  ///< also atomics that return a value
    /// Bytes from the address of one thread to that of the next, where known; 0: all threads access one address.
    std::optional<std::int64_t> stride;
};

struct Instruction {
    Kind kind = Kind::arithmetic;
    std::string text;  ///< as the file has it, for messages and tables
    int line = 0;
    std::string operation;  ///< PTX mnemonic that costs, a key of machine.operations or a relative of one
    std::optional<Access> access;
    std::vector<std::uint32_t> reads, writes;  ///< registers
    bool guarded = false;
    std::size_t target = 0;  ///< of a branch
};

struct Code {
    std::string kernel;
    std::string origin;  ///< file name
    std::vector<Instruction> instructions;
    std::map<std::size_t, std::string> labels;  ///< by the instruction behind them
    std::map<std::size_t, double> trip_counts;  ///< of loops, by their first instruction, where the code tells
    std::size_t registers = 0;                  ///< numbers in reads and writes are below
    std::int64_t shared_bytes = 0;              ///< that the code declares for a block
    std::vector<std::string> assumptions;       ///< what was taken for granted, one sentence each
};

}  // namespace gputomo::predict
