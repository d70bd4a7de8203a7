"""Kernels, arguments and answers, with cubins and PTX of the tree."""

import contextlib
import ctypes
import dataclasses
import io
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing
import unittest
import unittest.mock

import gputomo
from gputomo import answers, arguments
from paths import CAPTURE, CUBIN, PROGRAM, ROOT, WAITING

try:
    import numpy
except ImportError:
    numpy = None

BLOCKS, THREADS, TURNS = 132, 256, 2
STEP = 16 * BLOCKS * THREADS
MEMORY = 4 * TURNS * STEP


def copy(turns=TURNS):
    """A launch that copies memory."""
    memory = 4 * turns * STEP
    return gputomo.kernel(CUBIN).launch(
        BLOCKS, [gputomo.Buffer(memory), gputomo.Buffer(memory), STEP, turns], block=THREADS
    )


class OfCubins(unittest.TestCase):
    def test_answer_is_that_of_the_command_line(self):
        answer = copy().predict("h200", advise=True)
        command = [
            PROGRAM,
            "predict",
            CUBIN,
            "--kernel",
            "stream_copy_x4",
            "--machine",
            "sim:h200",
            "--grid",
            str(BLOCKS),
            "--block",
            str(THREADS),
            "--arg",
            f"buf:{MEMORY}",
            "--arg",
            f"buf:{MEMORY}",
            "--arg",
            f"u64:{STEP}",
            "--arg",
            f"u32:{TURNS}",
            "--json",
        ]
        told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        document = answer.to_json()
        self.assertEqual(document, {key: told[key] for key in document})
        self.assertEqual(answer.time.cycles, told["cycles"])
        self.assertEqual(answer.limiter.resource, told["limiter"])
        self.assertEqual(answer.work.dram_bytes, told["counters"]["dram_bytes"])
        shown = subprocess.run(command[:-1], capture_output=True, text=True, check=True).stdout
        self.assertTrue(shown.startswith(str(answer)))
        self.assertIn(answer.limiter.resource, str(answer))

    def test_answer_has_a_field_for_each_row(self):
        core, gpu = copy(1)._core_launch(90), gputomo.load("h200")._described_gpu()
        both = [
            gputomo._core.simulate(core, gpu, 1, 60000, None, "cold", False, False, None),
            gputomo._core.predict(core, gpu, 1, 60000, None, True, False, None),
        ]

        def class_in(hint):
            inner = [class_in(one) for one in typing.get_args(hint)]
            return hint if dataclasses.is_dataclass(hint) else next((one for one in inner if one), None)

        def parts(hint, value):
            if value is None or not class_in(hint):
                return []
            if isinstance(value, list):
                return value
            return value.values() if "Mapping" in str(hint) else [value]

        def compare(cls, rows):
            own = {f.name for f in dataclasses.fields(cls) if not f.name.startswith("_") and f.name != "outputs"}
            self.assertEqual(own, set(rows), cls.__name__)
            compared.add(cls)
            for name, value in rows.items():
                hint = answers._hints(cls)[name]
                for one in parts(hint, value):
                    compare(class_in(hint), one)

        compared = set()
        for rows in both:
            own = {name: value for name, value in rows.items() if name not in ("text", "json", "html", "outputs")}
            compare(answers.Answer, own)
        every = {one for one in vars(answers).values() if dataclasses.is_dataclass(one)}
        # Of code with lines, of launches with results, with advice, and with sensitivities.
        others = (
            answers.Line,
            answers.BufferDifference,
            answers.NumberDifference,
            answers.Advice,
            answers.AdvisedInstruction,
            answers.Sensitivity,
        )
        self.assertLessEqual(every - compared, set(others))

    def test_answer_is_frozen_and_shows_itself(self):
        answer = copy().predict("h200")
        with self.assertRaises(dataclasses.FrozenInstanceError):
            answer.method = "measure"
        card = answer._repr_html_()
        self.assertIn("stream_copy_x4", card)
        self.assertIn(f"{answer.microseconds:.4g} us", card)
        self.assertIn("long_scoreboard", card)
        self.assertNotIn("<script", card)
        self.assertEqual(card.count("<div"), card.count("</div"))

    def test_dirty_caches_write_what_is_displaced(self):
        launch = copy(64)
        cold, dirty = (launch.predict("h200", caches=caches) for caches in ("cold", "dirty"))
        touched = 2 * 4 * 64 * STEP
        displaced = min(touched, gputomo.load("h200").caches["l2"].capacity.value)
        more = dirty.work.dram_written_bytes - cold.work.dram_written_bytes
        self.assertAlmostEqual(more / displaced, 1, delta=0.1)
        self.assertGreater(dirty.cycles, 1.1 * cold.cycles)
        self.assertTrue(any("full of other data" in text for text in dirty.assumptions))
        with self.assertRaisesRegex(gputomo.InputError, "caches 'dirty': are predicted only"):
            launch.simulate("h200", caches="dirty")

    def test_quick_predictions_are_near_and_say_so(self):
        launch = copy(16)
        whole, quick = launch.predict("h200"), launch.predict("h200", quick=True)
        self.assertAlmostEqual(quick.cycles / whole.cycles, 1, delta=0.05)
        self.assertTrue(any("a quick one" in text for text in quick.assumptions))
        self.assertFalse(any("a quick one" in text for text in whole.assumptions))

    def test_lines_of_source(self):
        fixture = ROOT / "tests/answer/fixtures/advice/coalesced.cubin"
        kernel = gputomo.kernel(fixture, "coalesced")
        answer = kernel.predict(8, [gputomo.Buffer(8192), gputomo.Buffer(8 * 256 * 64 * 4)], "h200", block=256, advise=True)
        self.assertTrue(answer.lines[0].file.endswith("kernels/advice/coalesced.cu"))
        self.assertEqual(answer.lines[0].line, 10)
        self.assertEqual(answer.advice[0].instructions[0].line, 10)
        hottest = answer.hot[0]
        self.assertIn(hottest.waits_for_bytes, {one.address_bytes for one in answer.instructions})
        self.assertEqual(next(iter(hottest.stall_cycles)), "long_scoreboard")
        self.assertIn("coalesced.cu:10", str(answer))
        self.assertEqual(answer.to_json()["lines"][0]["line"], 10)

    def test_tables(self):
        answer = copy().predict("h200")
        with self.assertRaisesRegex(gputomo.InputError, "expected 'instructions', 'lines', 'stalls' or 'bounds'"):
            answer.to_pandas("waves")
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        table = answer.to_pandas()
        self.assertEqual(list(table["text"]), [one.text for one in answer.instructions])
        self.assertTrue({one.text for one in answer.hot} <= set(table["text"]))
        self.assertAlmostEqual(table["long_scoreboard"].sum(), answer.stall_cycles["long_scoreboard"], delta=1)
        self.assertAlmostEqual(answer.to_pandas("stalls")["share"].sum(), 1)
        self.assertTrue((answer.to_pandas("bounds")["share_of_time"] <= 1.0001).all())

    def test_caches_may_be_warm(self):
        launch = copy(1)
        warm = launch.predict("h200", caches="warm")
        self.assertEqual(warm.caches, "warm")
        self.assertLess(warm.work.dram_read_bytes, launch.predict("h200", caches="cold").work.dram_read_bytes)
        with self.assertRaisesRegex(gputomo.InputError, "expected 'cold', 'dirty' or 'warm'"):
            launch.predict("h200", caches="hot")

    def test_code_and_machine_must_fit(self):
        with self.assertRaisesRegex(gputomo.InputError, "machine code is executed on"):
            copy().predict("gtx980")
        other = gputomo.kernel(ROOT / "tests/data/cubin/opcodes.sm_75.cubin")
        with self.assertRaisesRegex(gputomo.InputError, "for sm_75.*expected machine code for sm_90"):
            other.launch(1, [gputomo.Buffer(4096)] * len(other.parameters), block=32).predict("h200")

    def test_the_size_of_a_block_comes_from_the_code(self):
        scatter = gputomo.kernel(ROOT / "tests/data/cubin/triton_scatter.sm_90a.cubin")
        self.assertEqual(scatter.block[1:], (1, 1))
        self.assertIsNone(gputomo.kernel(CUBIN).block)
        args = [gputomo.Buffer(1 << 16) if p.size_bytes == 8 else 1 for p in scatter.parameters]
        with self.assertRaisesRegex(gputomo.InputError, "was compiled for blocks of"):
            scatter.launch(1, args, block=scatter.block[0] // 2)
        self.assertEqual(scatter.launch(1, args).block, scatter.block)

    def test_what_is_no_kernel_is_refused(self):
        cubin = CUBIN.read_bytes()
        for x, expected in (
            (b"\x50\xed\x55\xba" + bytes(60), "is a fatbin.*cuobjdump"),
            (pathlib.Path(sys.executable).read_bytes(), "program or library for a CPU"),
            (cubin[:200], "the cubin"),
            ("/no/such.cubin", "/no/such.cubin: cannot be read"),
            (3, "int: is no kernel"),
            (".version 7.0\n.target nothing\n", "the PTX"),
        ):
            with self.subTest(expected), self.assertRaisesRegex(gputomo.InputError, expected):
                gputomo.kernel(x)
        with self.assertRaisesRegex(gputomo.InputError, "no kernel 'copy'.*one of stream_copy_x4"):
            gputomo.kernel(cubin, "copy")

    def test_several_kernels_need_a_name(self):
        ptx = ".version 7.0\n.target sm_70\n.address_size 64\n" + "".join(
            f".visible .entry {name}()\n{{\n ret;\n}}\n" for name in ("a", "b")
        )
        with self.assertRaisesRegex(gputomo.InputError, "has 2 kernels; expected name=, one of a, b"):
            gputomo.kernel(ptx)
        self.assertEqual(gputomo.kernel(ptx, "b").name, "b")


class OfPtx(unittest.TestCase):
    """Simulated GPUs execute PTX as it is, so that results are known without a compiler."""

    def setUp(self):
        if numpy is None:
            self.skipTest("numpy is not installed")
        self.add = gputomo.kernel(ROOT / "kernels/vector_add.ptx")

    def test_results_are_right(self):
        a, b = (numpy.random.default_rng(i).random(1024, dtype=numpy.float32) for i in range(2))
        c = numpy.zeros_like(a)
        for machine in ("h200", "gtx280"):
            answer = self.add.simulate(4, [a, b, c], machine, block=256, outputs=True)
            self.assertEqual(answer.method, "simulate")
            numpy.testing.assert_array_equal(answer.outputs[self.add.parameters[2].name], a + b)
        self.assertEqual(c.sum(), 0, "arguments are not changed")

    def test_views_share_memory(self):
        whole = numpy.arange(3 * 1024, dtype=numpy.float32)
        a, b, c = whole.reshape(3, 1024)
        made = self.add.simulate(4, [a, b, c], "h200", block=256, outputs=True).outputs
        numpy.testing.assert_array_equal(made[self.add.parameters[2].name], a + b)
        # In place: the array is given twice.
        made = self.add.simulate(4, [a, b, b], "h200", block=256, outputs=True).outputs
        for parameter in self.add.parameters[1:]:
            numpy.testing.assert_array_equal(made[parameter.name], a + b)

    def test_buffers(self):
        content = numpy.full(1024, 2, dtype=numpy.float32)
        twos = gputomo.Buffer(4096, content=content.tobytes())
        generated = gputomo.Buffer(4096, generated=True)
        made = self.add.simulate(4, [twos, generated, gputomo.Buffer(4096)], "h200", block=256, outputs=True).outputs
        sums = numpy.frombuffer(made[self.add.parameters[2].name], numpy.float32)
        self.assertTrue(((sums >= 3) & (sums <= 4)).all(), "2 and numbers from 1 to 2")
        self.assertGreater(len(set(sums)), 100)
        for bad, expected in (
            ((0,), "positive"),
            ((4, b"12345"), "5 bytes; expected at most 4"),
            ((4, b"1", True), "one of them"),
            ((True,), "positive"),
        ):
            with self.assertRaisesRegex(gputomo.InputError, expected):
                gputomo.Buffer(*bad)

    def test_failures_of_the_kernel_are_named(self):
        small = numpy.zeros(8, numpy.float32)
        with self.assertRaisesRegex(gputomo.Error, "illegal address|outside") as caught:
            self.add.simulate(4, [small, small, small], "h200", block=256)
        self.assertNotIsInstance(caught.exception, gputomo.InputError)

    def test_shape_is_checked(self):
        a = numpy.zeros(1024, numpy.float32)
        for grid, block, expected in (
            (0, 256, "grid 0"),
            ((1, 2, 3, 4), 256, "grid"),
            ((1.5,), 256, "grid"),
            ("4", 256, "grid"),
            (4, None, "expected block="),
            (4, 2048, "the block .2048, 1, 1.*at most 1024"),
            (True, 256, "grid True"),
            (4, (1, 1 << 33), "block"),
        ):
            with self.subTest(grid=grid, block=block), self.assertRaisesRegex(gputomo.InputError, expected):
                self.add.simulate(grid, [a, a, a], "h200", block=block)

    def test_predictions_say_how_to_compile(self):
        a = numpy.zeros(1024, numpy.float32)
        with unittest.mock.patch("gputomo._ptxas.find", return_value=[]):
            with self.assertRaisesRegex(gputomo.InputError, "no ptxas.*pip install triton"):
                self.add.predict(4, [a, a, a], "h200", block=256)


class Arguments(unittest.TestCase):
    def bytes_of(self, kind, size, value):
        return arguments.number_bytes(arguments.Parameter("n", 0, size, kind), value, "argument n")

    def test_take_the_type_of_the_parameter(self):
        for kind, size, value, expected in (
            ("i32", 4, -1, b"\xff" * 4),
            ("u32", 4, 7, b"\7\0\0\0"),
            ("s64", 8, -2, b"\xfe" + b"\xff" * 7),
            ("fp32", 4, 1.0, b"\0\0\x80\x3f"),
            ("fp32", 4, 1, b"\0\0\x80\x3f"),
            ("f64", 8, 1, b"\0" * 6 + b"\xf0\x3f"),
            ("fp16", 2, 1.0, b"\0\x3c"),
            ("bf16", 2, 1.0, b"\x80\x3f"),
            ("bf16", 2, 1.005859375, b"\x81\x3f"),
            ("i1", 1, True, b"\1"),
            ("", 4, -1, b"\xff" * 4),
            ("", 4, 0xFFFFFFFF, b"\xff" * 4),
            ("", 4, 1.0, b"\0\0\x80\x3f"),
            ("", 8, 1.0, b"\0" * 6 + b"\xf0\x3f"),
            ("", 12, bytes(12), bytes(12)),
            ("", 4, ctypes.c_float(1), b"\0\0\x80\x3f"),
            ("*fp32", 8, None, bytes(8)),
            ("b32", 4, 1.0, b"\0\0\x80\x3f"),
        ):
            with self.subTest(kind=kind, value=value):
                self.assertEqual(self.bytes_of(kind, size, value), expected)

    def test_that_do_not_fit_are_refused(self):
        for kind, size, value, expected in (
            ("i32", 4, 1 << 31, "expected a number that i32 holds"),
            ("u32", 4, -1, "holds"),
            ("i32", 4, 0.5, "whole"),
            ("", 4, 1 << 32, "holds"),
            ("", 12, 1, "expected 12 bytes"),
            ("", 4, b"12345", "has 5 bytes; expected 4"),
            ("", 4, "one", "found str"),
            ("*fp32", 8, 5, "expected an array"),
            ("", 4, None, "expected an array"),
            ("", 4, [1], "found list"),
            ("fp16", 2, 1e9, "holds"),
            ("", 4, ctypes.c_double(1), "has 8 bytes"),
        ):
            with self.subTest(kind=kind, value=value), self.assertRaisesRegex(gputomo.InputError, expected):
                self.bytes_of(kind, size, value)

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_numpy_scalars_have_their_own_type(self):
        self.assertEqual(self.bytes_of("", 4, numpy.float32(1)), b"\0\0\x80\x3f")
        self.assertEqual(self.bytes_of("", 4, numpy.int32(-1)), b"\xff" * 4)
        self.assertEqual(self.bytes_of("fp32", 4, numpy.float64(1)), b"\0\0\x80\x3f")
        with self.assertRaisesRegex(gputomo.InputError, "has 8 bytes; expected 4"):
            self.bytes_of("", 4, numpy.float64(1))

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_arrays_need_memory(self):
        kernel = gputomo.kernel(CUBIN)
        a = numpy.zeros(64, numpy.float32)
        for values, expected in (
            ([a, a, 16], "found 3 arguments; expected 4"),
            ([a, a, 16, a], "found memory; expected a number of 4 bytes"),
            ([a[:0], a, 16, 1], "no elements"),
            ("abcd", "found str"),
            ({"0": a}, "no argument for 1, 2, 3"),
            ({"0": a, "1": a, "2": 1, "3": 1, "4": 1}, "no parameter 4"),
        ):
            with self.subTest(expected), self.assertRaisesRegex(gputomo.InputError, expected):
                kernel.launch(1, values, block=32)


class OfCaptures(unittest.TestCase):
    def test_launches_are_answered(self):
        capture = gputomo.Capture(CAPTURE)
        kernel = gputomo.kernel(capture[0])
        answer = kernel.predict(machine="h200")
        command = [PROGRAM, "predict", CAPTURE, "--launch", "0", "--machine", "sim:h200", "--json"]
        told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        self.assertEqual(answer.time.cycles, told["launches"][0]["cycles"])
        self.assertEqual(capture[0].grid, answer.launch.grid)
        self.assertTrue(capture[0].has_memory)
        many = gputomo.predict_many([kernel.launch()] * 3, "h200", processes=2)
        self.assertEqual(many, [answer] * 3)
        with self.assertRaisesRegex(gputomo.InputError, "has its grid and arguments"):
            kernel.predict(4, [], machine="h200")
        with self.assertRaisesRegex(gputomo.InputError, "expected one of them"):
            gputomo.kernel(capture)
        with self.assertRaisesRegex(gputomo.InputError, "no results to compare"):
            kernel.simulate(machine="h200", check=True)

    def test_blocks_that_wait_are_simulated(self):
        answer = gputomo.kernel(gputomo.Capture(WAITING)[0]).predict(machine="h200")
        self.assertEqual(answer.method, "simulate")
        self.assertRegex(answer.warnings[0], "simulated, not predicted")

    def test_folders_that_are_none_are_refused(self):
        with self.assertRaisesRegex(gputomo.InputError, "capture.json"):
            gputomo.Capture(ROOT / "machines")


class LongWork(unittest.TestCase):
    def test_ends_at_its_time_limit(self):
        with self.assertRaisesRegex(gputomo.TimeLimitError, "not finished within 200 ms"):
            copy(64).simulate("h200", whole=True, time_limit_seconds=0.2)
        with self.assertRaisesRegex(gputomo.InputError, "time_limit_seconds 0"):
            copy().predict("h200", time_limit_seconds=0)

    def test_is_interrupted(self):
        for work in (
            lambda: copy(256).simulate("h200", whole=True, time_limit_seconds=600),
            lambda: gputomo.predict_many([copy(96 + i) for i in range(64)], "h200", processes=2),
        ):
            timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
            timer.start()
            begin = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                work()
            self.assertLess(time.monotonic() - begin, 10)
            timer.join()
        self.assertGreater(copy().predict("h200").cycles, 0)

    def test_lets_other_threads_run(self):
        steps, done = [], threading.Event()

        def count():
            while not done.is_set():
                steps.append(1)
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        copy(12).predict("h200")
        done.set()
        thread.join()
        self.assertGreater(len(steps), 20)

    def test_many_launches_keep_their_order_and_errors(self):
        good, bad = (
            copy(2),
            gputomo.kernel(CUBIN).launch(1, [gputomo.Buffer(64), gputomo.Buffer(64), 1 << 20, 4], block=32),
        )
        found = gputomo.predict_many([good, bad, copy(4), good], "h200", return_errors=True, processes=3)
        self.assertEqual(found[0], found[3])
        self.assertGreater(found[2].cycles, found[0].cycles)
        self.assertRegex(str(found[1]), "illegal address")
        with self.assertRaisesRegex(gputomo.Error, "illegal address"):
            gputomo.predict_many([good, bad], "h200")
        self.assertEqual(gputomo.predict_many([], "h200"), [])
        for processes in (0, 1.5, True):
            with self.assertRaisesRegex(gputomo.InputError, "processes"):
                gputomo.predict_many([good], "h200", processes=processes)


class Assemblers(unittest.TestCase):
    def test_one_that_is_too_old_says_what_to_install(self):
        with tempfile.TemporaryDirectory() as folder:
            old = pathlib.Path(folder) / "ptxas"
            old.write_text("#!/bin/sh\necho 'fatal : Unsupported .version 9.0; current version is 8.8'\nexit 255\n")
            old.chmod(0o755)
            with unittest.mock.patch("gputomo._ptxas.find", lambda: [str(old)]):
                with self.assertRaisesRegex(gputomo.InputError, "refuses it; pip install nvidia-cuda-nvcc"):
                    gputomo._ptxas.compile(b".version 9.0\n", 90, "k.ptx")


class Scans(unittest.TestCase):
    def test_a_simulated_gpu_is_measured(self):
        with contextlib.redirect_stderr(io.StringIO()) as told:
            machine = gputomo.scan("sim:gtx280", only=["clock", "arithmetic_latency"])
        self.assertNotIn("written:", told.getvalue(), "the files are not kept")
        self.assertEqual(machine.origin, "the scan of sim:gtx280")
        self.assertEqual(
            machine["operations.add.s32.latency"].value, gputomo.load("gtx280")["operations.add.s32.latency"].value
        )
        with self.assertRaisesRegex(gputomo.InputError, "nothing: no such machine"):
            gputomo.scan("sim:nothing")


if __name__ == "__main__":
    unittest.main()
