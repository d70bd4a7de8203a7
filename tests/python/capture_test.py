"""Recording of Triton's launches in a running process. Without a GPU, a stand-in has what is used of the driver, and
the tensors are those of the host's memory; with one, the driver and the GPU are real."""

import ctypes
import pathlib
import tempfile
import unittest

import gputomo
from gputomo import capturing

try:
    import torch
    import triton  # noqa: F401

    from tuned_kernels import scale
except ImportError as error:
    raise unittest.SkipTest(f"{error.name} is not installed") from error

COUNT = 1 << 14


class HostDriver:
    """Memory of the host as that of a GPU. `graph`: streams put their work into a graph."""

    def __init__(self, *tensors):
        self.tensors = tensors
        self.graph = False
        self.reads = 0

    def gpu(self):
        return {
            "name": "stand-in", "uuid": "", "sm": 90, "multiprocessors": 132, "clock_khz": 1, "memory_clock_khz": 1,
            "memory_bytes": 1 << 30, "driver": 13000,
        }  # fmt: skip

    def allocation(self, address):
        for tensor in self.tensors:
            storage = tensor.untyped_storage()
            if storage.data_ptr() <= address < storage.data_ptr() + storage.nbytes():
                return storage.data_ptr(), storage.nbytes()
        return None

    def read(self, address, size):
        self.reads += size
        return ctypes.string_at(address, size)

    def synchronize(self):
        pass

    def event(self, stream):
        return stream

    def has_passed(self, event):
        return False

    def microseconds(self, start, end):
        return 12.5

    def is_capturing(self, stream):
        return self.graph

    def clear(self, stream):
        pass

    def close(self):
        pass


class Recording(unittest.TestCase):
    def setUp(self):
        self.x, self.out = torch.rand(COUNT), torch.zeros(COUNT)
        self.driver = HostDriver(self.x, self.out)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "recorded"

    def record(self, launches=1, **options):
        options = {"kernels": None, "memory": True, "results": False, "max_memory": 1 << 30, **options}
        with gputomo.triton.without_gpu("h200"):
            with capturing.Recording(self.folder, driver=self.driver, **options) as recording:
                for _ in range(launches):
                    scale[(COUNT // 256,)](self.out, self.x, COUNT, 2.0, BLOCK=256, TURNS=1)
            scale[(COUNT // 256,)](self.out, self.x, COUNT, 2.0, BLOCK=256, TURNS=1)
        return recording

    def test_is_a_capture_that_can_be_simulated(self):
        recording = self.record(launches=2)
        first, second = recording.capture
        self.assertEqual((first.kernel, first.grid, first.block), ("scale", (64, 1, 1), (128, 1, 1)))
        self.assertEqual([one.has_memory for one in (first, second)], [True, False], "one of each shape")
        self.assertEqual(first.microseconds, 12.5)
        # The results that a GPU would have left.
        direct = gputomo.triton.launch(scale, 64, [self.out, self.x, COUNT, 2.0], "h200", BLOCK=256, TURNS=1)
        self.assertEqual(
            gputomo.kernel(first).predict(machine="h200").work.warp_instructions, direct.predict("h200").work.warp_instructions
        )
        self.assertEqual(recording.capture.folder, str(self.folder))

    def test_memory_is_that_before_and_after(self):
        self.out += 1
        recording = self.record(results=True)
        self.assertTrue(recording.capture[0].has_results)
        # Nothing ran, so that the simulation differs from what the memory is afterwards.
        answer = gputomo.kernel(recording.capture[0]).simulate(machine="h200", whole=True, check=True)
        self.assertEqual(sum(one.differing_bytes > 0 for one in answer.differences), 1)
        self.out[:] = 2 * self.x
        recording = self.record(results=True)
        answer = gputomo.kernel(recording.capture[0]).simulate(machine="h200", whole=True, check=True)
        self.assertFalse(answer.differences)

    def test_limits_and_choices(self):
        recording = self.record(max_memory=1000)
        self.assertFalse(gputomo.Capture(self.folder)[0].has_memory and self.driver.reads)
        self.assertIn("above the limit of 1000", (self.folder / "capture.json").read_text())
        recording = self.record(memory=False)
        self.assertFalse(recording.capture[0].has_memory)
        recording = self.record(kernels="^softmax")
        self.assertEqual(len(recording), 0)
        with self.assertRaisesRegex(gputomo.InputError, "no launch was recorded"):
            _ = recording.capture
        self.driver.graph = True
        self.assertFalse(self.record().capture[0].has_memory, "work that goes into a graph is left alone")

    def test_errors(self):
        with self.assertRaisesRegex(gputomo.InputError, "expected a regular expression"):
            gputomo.capture(self.folder, kernels="(")
        self.folder.mkdir()
        (self.folder / "thesis.txt").write_text("mine")
        with self.assertRaisesRegex(gputomo.InputError, "is no capture; expected an empty or a new folder"):
            gputomo.capture(self.folder)
        with self.assertRaisesRegex(gputomo.InputError, "max_memory -1"):
            gputomo.capture(self.folder / "new", max_memory=-1)

    @unittest.skipIf(torch.cuda.is_available(), "there is a GPU")
    def test_needs_a_gpu(self):
        with self.assertRaisesRegex(gputomo.DeviceError, "libcuda.so.1.*expected NVIDIA's driver"):
            gputomo.capture(self.folder).__enter__()

    def test_hooks_are_taken_back_after_an_error(self):
        with self.assertRaises(ZeroDivisionError), capturing.Recording(
            self.folder, None, True, False, 1 << 30, self.driver
        ):
            1 / 0  # noqa: B018
        self.assertEqual(len(self.record()), 1)


@unittest.skipUnless(torch.cuda.is_available(), "there is no GPU")
class OnGpus(unittest.TestCase):
    def test_launches_of_a_cell(self):
        x = torch.rand(COUNT, device="cuda")
        out = torch.zeros_like(x)
        with tempfile.TemporaryDirectory() as folder:
            with gputomo.capture(pathlib.Path(folder) / "cell", results=True) as recorded:
                scale[(COUNT // 256,)](out, x, COUNT, 2.0, BLOCK=256, TURNS=1)
            torch.testing.assert_close(out, 2 * x)
            answer = gputomo.kernel(recorded.capture[0]).simulate(machine="h200", whole=True, check=True)
            self.assertFalse(answer.differences)
            time = recorded.capture[0].microseconds
            self.assertTrue(time is None or 1 < time < 20, "None: it may hold waiting for the host")


if __name__ == "__main__":
    unittest.main()
