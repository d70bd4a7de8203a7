"""Arguments that are tensors of PyTorch, and, where there is a GPU, what Triton compiles and tunes there."""

import unittest

import gputomo
from paths import CUBIN, ROOT

try:
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"{error.name} is not installed") from error

try:
    import triton

    from tuned_kernels import gather, scale, softmax
except ImportError:
    triton = None

NEEDS_TRITON = unittest.skipIf(triton is None, "triton is not installed")
NEEDS_GPU = unittest.skipUnless(triton and torch.cuda.is_available(), "there is no GPU")
COUNT = 1 << 14


def launch(fn, grid, args, **options):
    return gputomo.triton.launch(fn, grid, args, "h200", **options)


class Tensors(unittest.TestCase):
    def add(self, *tensors):
        """The sum of the first two, as the third is after a simulation of PTX."""
        kernel = gputomo.kernel(ROOT / "kernels/vector_add.ptx")
        answer = kernel.simulate(4, list(tensors), "h200", block=256, outputs=True)
        return [answer.outputs[parameter.name] for parameter in kernel.parameters]

    def test_have_their_content(self):
        a, b, c = torch.rand(1024), torch.rand(1024), torch.zeros(1024)
        self.assertTrue(torch.equal(self.add(a, b, c)[2], a + b))
        self.assertEqual(float(c.sum()), 0)

    def test_that_are_views_share_memory(self):
        whole = torch.rand(3, 1024)
        a, b, c = whole.unbind()
        made = self.add(a, b, c)
        self.assertTrue(torch.equal(made[2], a + b))
        self.assertTrue(torch.equal(made[0], a))
        a, b = torch.rand(2, 1024).unbind()
        made = self.add(a, b, b)
        self.assertTrue(torch.equal(made[1], a + b))
        self.assertTrue(torch.equal(made[2], a + b))

    def test_that_are_empty_are_refused(self):
        with self.assertRaisesRegex(gputomo.InputError, "has no elements"):
            gputomo.kernel(CUBIN).launch(1, [torch.empty(0), torch.rand(4), 16, 1], block=32)

    @NEEDS_TRITON
    def test_of_types_that_numpy_lacks(self):
        x = torch.rand(COUNT).to(torch.bfloat16)
        out = torch.zeros_like(x)
        made = launch(scale, COUNT // 256, [out, x, COUNT, 2.0], BLOCK=256, TURNS=1).simulate("h200", outputs=True)
        self.assertTrue(torch.equal(made.outputs["out"], 2 * x))
        wrong = [out.to(torch.float16), x, COUNT, 2.0]
        compiled = gputomo.triton.compile(scale, [out, x, COUNT, 2.0], "h200", BLOCK=256, TURNS=1)
        with self.assertRaisesRegex(gputomo.InputError, "out: found an array of fp16; expected bf16"):
            compiled.launch(64, wrong)

    @NEEDS_TRITON
    def test_of_meta_have_generated_contents(self):
        x = torch.empty(COUNT, device="meta")
        out, index = torch.empty_like(x), torch.empty(COUNT, dtype=torch.int32, device="meta")
        answer = launch(scale, COUNT // 256, [out, x, COUNT, 2.0], BLOCK=256, TURNS=1).predict("h200")
        self.assertEqual(sum("because it is a meta tensor" in text for text in answer.assumptions), 2)
        real = [torch.rand(COUNT), torch.rand(COUNT), COUNT, 2.0]
        with_content = launch(scale, COUNT // 256, real, BLOCK=256, TURNS=1).predict("h200")
        self.assertAlmostEqual(answer.cycles / with_content.cycles, 1, delta=0.02)
        answer = launch(gather, COUNT // 256, [out, x, index, COUNT], BLOCK=256).predict("h200")
        self.assertRegex(answer.warnings[0], "index is a meta tensor of i32, whose content is taken to be zeros")


@NEEDS_GPU
class OnGpus(unittest.TestCase):
    def arrays(self):
        rows = torch.rand(512, 1000, device="cuda")
        return torch.zeros_like(rows), rows

    def test_tensors_are_copied(self):
        out, rows = self.arrays()
        args = [out, rows, 1000, 1000]
        there = launch(softmax, 512, args, BLOCK=1024)
        here = launch(softmax, 512, [out.cpu(), rows.cpu(), 1000, 1000], BLOCK=1024)
        self.assertEqual(there.predict("h200"), here.predict("h200"))
        made = there.simulate("h200", outputs=True).outputs["out"]
        torch.testing.assert_close(made, torch.softmax(rows, 1).cpu(), rtol=1e-4, atol=1e-6)

    def test_kernels_that_triton_launched_or_warmed_up(self):
        out, rows = self.arrays()
        if torch.cuda.get_device_capability() != (9, 0):
            self.skipTest("the GPU has another compute capability than the described one")
        launched = gputomo.kernel(softmax[(512,)](out, rows, 1000, 1000, BLOCK=1024))
        warm = gputomo.kernel(softmax.warmup(out, rows, 1000, 1000, BLOCK=1024, grid=(512,)))
        own = gputomo.triton.compile(softmax, [out, rows, 1000, 1000], "h200", BLOCK=1024)
        answers = [kernel.predict(512, [out, rows, 1000, 1000], "h200") for kernel in (launched, warm, own)]
        self.assertEqual(answers, answers[:1] * 3)

    def test_autotuning_times_what_is_left(self):
        x = torch.rand(1 << 20, device="cuda")
        out = torch.zeros_like(x)
        configs = [
            triton.Config({"BLOCK": block, "TURNS": turns}, num_warps=warps)
            for block in (64, 1024)
            for turns in (1, 16)
            for warps in (1, 4)
        ]
        prune = gputomo.triton.early_config_prune(scale, "h200", keep=2)
        tuned = triton.autotune(configs, key=["n"], prune_configs_by={"early_config_prune": prune})(scale)
        tuned[lambda a: (triton.cdiv(a["n"], a["BLOCK"] * a["TURNS"]),)](out, x, 1 << 20, 3.0)
        torch.testing.assert_close(out, 3 * x)
        self.assertLess(len(tuned.configs_timings), len(configs))
        self.assertIn(tuned.best_config, tuned.configs_timings)


if __name__ == "__main__":
    unittest.main()
