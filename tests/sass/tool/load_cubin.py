#!/usr/bin/env python3
"""Loads a rewritten vector_add on a GPU of compute capability 9.0 and checks its sums. Needs the driver alone.

    ptxas -arch=sm_90 kernels/vector_add.ptx -o vector_add.cubin
    tests/sass/tool/load_cubin.py build/tests/sass_text vector_add.cubin

The code of vector_add.cubin is decoded, encoded again and put into a new cubin, which the driver then loads.
"""
import ctypes
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..', '..', 'scripts'))
import compare_sass

REGISTERS = 32
COUNT = 256


def check(what, code):
    if code:
        raise SystemExit(f'{what}: the driver answered {code}; expected 0')


def main():
    tool, path = sys.argv[1:]
    code = dict(compare_sass.sections(path))['vector_add']
    made = subprocess.run([tool, 'cubin', 'vector_add', str(REGISTERS), '3'], input=code, capture_output=True, check=True)
    driver = ctypes.CDLL('libcuda.so.1')
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check('cuInit', driver.cuInit(0))
    check('cuDevicePrimaryCtxRetain', driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check('cuCtxSetCurrent', driver.cuCtxSetCurrent(context))
    check('cuModuleLoadData', driver.cuModuleLoadData(ctypes.byref(module), made.stdout))
    check('cuModuleGetFunction', driver.cuModuleGetFunction(ctypes.byref(function), module, b'vector_add'))
    values = (ctypes.c_float * COUNT)(*range(COUNT))
    pointers = [ctypes.c_uint64() for _ in range(3)]
    for pointer in pointers:
        check('cuMemAlloc', driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(ctypes.sizeof(values))))
        check('cuMemcpyHtoD', driver.cuMemcpyHtoD_v2(pointer, values, ctypes.c_size_t(ctypes.sizeof(values))))
    arguments = (ctypes.c_void_p * 3)(*[ctypes.cast(ctypes.byref(p), ctypes.c_void_p) for p in pointers])
    check('cuLaunchKernel', driver.cuLaunchKernel(function, 1, 1, 1, COUNT, 1, 1, 0, None, arguments, None))
    check('cuCtxSynchronize', driver.cuCtxSynchronize())
    changed = 0
    for pointer in pointers:
        check('cuMemcpyDtoH', driver.cuMemcpyDtoH_v2(values, pointer, ctypes.c_size_t(ctypes.sizeof(values))))
        changed += list(values) == [2.0 * i for i in range(COUNT)]
    if changed != 1:
        raise SystemExit(f'{changed} arrays hold sums; expected one')
    print('the rewritten kernel ran and its sums are right')


if __name__ == '__main__':
    main()
