// A kernel builder that reads like assembly: typed registers, loops, clock reads.
//
//     KernelBuilder k("chase", target);
//     auto start = k.param<std::uint64_t>("start");
//     auto p = k.reg<u64>();
//     k.mov(p, start);
//     auto t0 = k.read_clock();
//     k.repeat(256, [&](int) { k.ld(Space::global, p, k.at(p)); });
//     auto t1 = k.read_clock(after(p));     // depends on p, so that it is not read before the last load is back
//     ...
//     std::string text = k.module_text();
//
// The full interface is for the ptx room to design in this spirit; experiments use only this header.
#pragma once
