#!/usr/bin/env python3
"""Training steps of Taper and of PyTorch, in turns, and one table of ratios.

    benchmark.py TAPER_DEVICE [--device cuda|cpu] [--tiny] [--seconds S] [--deadline S] [--no-compile] [--out FOLDER]

TAPER_DEVICE is the program of benchmark.cpp: it runs beside this one and makes steps when it is asked to, so that the
two take turns on the device, sample by sample. Without PyTorch, Taper is timed alone. Writes benchmark.json and
benchmark.txt, the table, after each model: a run that is cut has the first ones.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

try:
    import torch
except Exception as error:  # a broken installation raises more than ImportError
    torch = None
    why_no_torch = f"{type(error).__name__}: {error}".splitlines()[0]

SIDES = ["taper eager", "taper graph", "torch eager", "torch graph", "torch compile"]


# ---- Taper -----------------------------------------------------------------------------------------------------------
class Taper:
    def __init__(self, program):
        self.process = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"taper_device ended with status {self.process.wait()} at '{line}'")
        if answer.startswith("error"):
            raise RuntimeError(f"taper_device: {answer[6:].strip()}")
        return answer

    def set_precision(self, precision):
        self.ask(f"precision {precision}")

    def time(self, case, mode, seconds):
        return float(self.ask(f"time {case[0]} {case[1]} {case[2]} {mode} {seconds}"))

    def losses(self, case, mode, count):
        return [float(v) for v in self.ask(f"losses {case[0]} {case[1]} {case[2]} {mode} {count}").split()]

    def close(self):
        try:
            self.process.stdin.close()
            self.process.wait(timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()


# ---- PyTorch ---------------------------------------------------------------------------------------------------------
def numbers(sizes, phase, scale, device):
    """As in benchmark.cpp: in float64, then rounded once."""
    i = torch.arange(math.prod(sizes), dtype=torch.float64)
    x = torch.sin(i * 12.9898 + phase * 78.233) * 43758.5453
    return ((2 * (x - torch.floor(x)) - 1) * scale).float().view(sizes).to(device)


def make_model(model, w):
    nn = torch.nn
    if model == "mlp":
        return nn.Sequential(nn.Linear(784, w), nn.ReLU(), nn.Linear(w, w // 2), nn.ReLU(), nn.Linear(w // 2, 10))
    if model == "lenet":
        return nn.Sequential(
            nn.Conv2d(1, w, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(w, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
    layers, channels = [], 3
    for out in (w, 2 * w, 4 * w):
        for _ in range(2):
            layers += [nn.Conv2d(channels, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU()]
            channels = out
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels * 16, 4 * w), nn.ReLU(), nn.Linear(4 * w, 10))


class Torch:
    """One model; step() trains it on its one batch."""

    def __init__(self, case, mode, device, is_slow):
        model, width, batch, _ = case
        self.device = device
        self.model = make_model(model, width)
        with torch.no_grad():
            for k, (name, p) in enumerate(self.model.named_parameters()):
                if name.endswith("bias"):
                    p.zero_()
                elif p.dim() > 1:
                    p.copy_(numbers(p.shape, k + 1, math.sqrt(3 / (p.numel() // p.shape[0])), "cpu"))
        self.model.to(device)
        on_gpu = device == "cuda"
        if model == "mlp":
            self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-9 if is_slow else 1e-3, fused=True,
                                              capturable=on_gpu and mode == "graph")
        else:
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-7 if is_slow else 0.02, momentum=0.9,
                                             fused=True)
        shape = {"mlp": (batch, 784), "lenet": (batch, 1, 28, 28), "vgg": (batch, 3, 32, 32)}[model]
        self.images = numbers(shape, 0, 1, device)
        self.labels = (torch.arange(batch) * 7 % 10).to(device)
        self.forward = self.loss
        if mode == "compile":
            self.forward = torch.compile(self.loss)
        self.step = self.eager
        if mode == "graph":
            self.capture()

    def loss(self):
        return torch.nn.functional.cross_entropy(self.model(self.images), self.labels)

    def eager(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.forward()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def capture(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.eager()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.result = self.eager()
        self.step = self.replay

    def replay(self):
        self.graph.replay()
        return self.result

    def synchronize(self):
        if self.device == "cuda":
            torch.cuda.synchronize()

    def time(self, seconds):  # as time_steps() in benchmark.cpp
        for _ in range(5):
            self.step()
        self.synchronize()
        begin, steps, batch = time.perf_counter(), 0, 1
        while time.perf_counter() - begin < seconds:
            for _ in range(batch):
                self.step()
            self.synchronize()
            steps += batch
            batch = min(batch * 2, 64)
        return (time.perf_counter() - begin) * 1e6 / steps

    def losses(self, count):
        return [loss.item() for loss in [self.step().clone() for _ in range(count)]]


# ---- The comparison --------------------------------------------------------------------------------------------------
class Comparison:
    def __init__(self, options):
        self.options = options
        self.taper = Taper(options.taper)
        self.rows, self.notes, self.failures = [], [], []
        self.end = time.monotonic() + options.deadline
        self.torch_sides = []
        if torch is None:
            self.notes.append(f"no PyTorch here ({why_no_torch}): Taper alone")
        elif options.device == "cuda" and not torch.cuda.is_available():
            self.notes.append("PyTorch sees no CUDA device: Taper alone")
        else:
            self.torch_sides = ["torch eager"] + (["torch graph"] if options.device == "cuda" else [])
            self.notes.append(f"PyTorch {torch.__version__} on {options.device}, fused optimizers; float32, or TF32 "
                              "where the table says so")
            torch.backends.cudnn.benchmark = True

    def left(self):
        return self.end - time.monotonic()

    def note(self, text):
        self.notes.append(text)
        print(text, flush=True)

    def fail(self, row, text):
        self.failures.append(f"{row['case']}: {text}")
        print(f"FAILED: {self.failures[-1]}", flush=True)
        # After an error of the device a process can do no more on it.
        self.taper.process.kill()
        self.taper = Taper(self.options.taper)
        try:
            self.taper.set_precision(row["precision"])
        except RuntimeError:
            pass  # the next question to it will tell

    def set_precision(self, precision):
        """Of both sides: high is TF32."""
        self.taper.set_precision(precision)
        if torch:
            torch.set_float32_matmul_precision(precision)
            torch.backends.cudnn.allow_tf32 = precision != "highest"

    def compare_losses(self, case, row):
        """All sides start from the same weights and see the same batch, so they have the same losses."""
        count = 4 if self.options.tiny else 20
        losses = row["losses"] = {}
        for mode in ("eager", "graph"):
            try:
                losses[f"taper {mode}"] = self.taper.losses(case, mode, count)
            except RuntimeError as error:
                self.fail(row, f"taper {mode}: {error}")
        if self.torch_sides:
            losses["torch eager"] = Torch(case, "eager", self.options.device, False).losses(count)
        if not losses:
            return
        first, want = next(iter(losses.items()))
        for side, got in losses.items():
            # Roundings differ, and training makes such differences grow: the first steps are held to more.
            for i, (a, b) in enumerate(zip(want, got)):
                limit = (2e-4 if i < 3 else 2e-2) * (1 if row["precision"] == "highest" else 20)
                if not abs(a - b) <= limit * (1 + abs(a)):
                    self.failures.append(f"{row['case']}: loss {a:.6g} of {first} after {i} steps, {b:.6g} of {side}")
                    break
        off = max(abs(a - b) for got in losses.values() for a, b in zip(want, got))
        print(f"{row['case']}: losses {want[0]:.5f} to {want[-1]:.5f}, furthest apart {off:.2g}", flush=True)

    def time_sides(self, case, row, timers):
        """Rounds of one sample of each side; `row` gets the medians."""
        times = {side: [] for side in timers}
        for _ in range(self.options.rounds):
            for side in list(timers):
                try:
                    times[side].append(timers[side]())
                except Exception as error:
                    if side.startswith("taper"):
                        self.fail(row, f"{side}: {error}")
                    else:
                        self.note(f"{row['case']}: {side}: {type(error).__name__}: {str(error).splitlines()[:1]}")
                    del timers[side], times[side]
            if self.left() < 0:
                break
        for side, samples in times.items():
            if not samples:
                continue
            row["us"][side] = statistics.median(samples)
            row["samples"].setdefault(side, []).extend(samples)

    def taper_timers(self, case, modes):
        return {f"taper {m}": lambda m=m: self.taper.time(case, m, self.options.seconds) for m in modes}

    def torch_timer(self, case, row, side):
        """None, and a note, where PyTorch cannot do it."""
        try:
            peer = Torch(case, side.split()[1], self.options.device, True)
            peer.step()
            peer.synchronize()
            return lambda: peer.time(self.options.seconds)
        except Exception as error:  # whatever a compiler or a driver may raise
            self.note(f"{row['case']}: {side}: {type(error).__name__}: {str(error).splitlines()[:1]}")
            return None

    def run(self, cases):
        for case in cases:
            name = f"{case[0]}, width {case[1]}, batch {case[2]}" + (", TF32" if case[3] == "high" else "")
            if self.left() < 0:
                self.note(f"{name}: no time left")
                continue
            row = {"case": name, "precision": case[3], "us": {}, "samples": {}}
            self.rows.append(row)
            try:
                self.set_precision(case[3])
                self.compare_losses(case, row)
                timers = self.taper_timers(case, [m for m in ("eager", "graph") if f"taper {m}" in row["losses"]])
                for side in self.torch_sides:
                    timer = self.torch_timer(case, row, side)
                    if timer:
                        timers[side] = timer
                self.time_sides(case, row, timers)
            except Exception as error:
                self.fail(row, f"{type(error).__name__}: {error}")
            self.write()
        if self.torch_sides and not self.options.no_compile:
            for case, row in zip(cases, self.rows):  # last, since compiling takes long
                if self.left() < 20:
                    self.note(f"{row['case']}: no time left for torch.compile")
                    continue
                torch._dynamo.reset()
                torch.set_float32_matmul_precision(case[3])
                torch.backends.cudnn.allow_tf32 = case[3] != "highest"
                timer = self.torch_timer(case, row, "torch compile")
                if timer:
                    self.time_sides(case, row, {"torch compile": timer})
                self.write()
        self.taper.close()
        return 1 if self.failures else 0

    def write(self):
        def number(row, side):
            return f"{row['us'][side]:12.1f}" if side in row["us"] else f"{'-':>12}"

        def ratio(row, slow, fast):
            if slow not in row["us"] or fast not in row["us"]:
                return f"{'-':>14}"
            return f"{row['us'][slow] / row['us'][fast]:12.2f} x"

        pairs = [("torch eager", "taper eager"), ("torch eager", "taper graph"), ("torch graph", "taper graph"),
                 ("torch compile", "taper graph"), ("taper eager", "taper graph")]
        names = "".join(f"{s.replace('torch', 'pt'):>14}" for s in SIDES)
        lines = ["Microseconds of a training step", f"{'':<36}" + names]
        lines += [f"{row['case']:<36}" + "".join(f"  {number(row, s)}" for s in SIDES) for row in self.rows]
        lines += ["", "How many times as long the first takes as the second",
                  f"{'':<36}" + "".join(f"{a.replace('torch', 'pt'):>14}" for a, _ in pairs),
                  f"{'':<36}" + "".join(f"{'/ ' + b:>14}" for _, b in pairs)]
        lines += [f"{row['case']:<36}" + "".join(ratio(row, a, b) for a, b in pairs) for row in self.rows]
        notes = self.notes + [f"FAILED: {f}" for f in self.failures]
        out = pathlib.Path(self.options.out)
        (out / "benchmark.txt").write_text("\n".join(notes + [""] + lines) + "\n")
        (out / "benchmark.json").write_text(
            json.dumps({"notes": self.notes, "failures": self.failures, "cases": self.rows}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper", help="the program taper_device")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"], help="PyTorch's device")
    parser.add_argument("--tiny", action="store_true", help="models for an emulated device")
    parser.add_argument("--seconds", type=float, default=0.1, help="of one sample")
    parser.add_argument("--rounds", type=int, default=7, help="samples of each side")
    parser.add_argument("--deadline", type=float, default=150, help="seconds after which no other model is begun")
    parser.add_argument("--no-compile", action="store_true", help="without torch.compile")
    parser.add_argument("--out", default=".", help="folder for benchmark.json and benchmark.txt")
    options = parser.parse_args()
    cases = [("mlp", 256, 64, "highest"), ("lenet", 6, 16, "highest"), ("vgg", 64, 128, "highest"),
             ("vgg", 64, 128, "high"), ("lenet", 6, 256, "highest"), ("mlp", 2048, 256, "highest"),
             ("mlp", 2048, 256, "high")]
    if options.tiny:
        cases = [("mlp", 8, 2, "highest"), ("mlp", 8, 2, "high"), ("lenet", 2, 2, "highest"), ("vgg", 2, 2, "highest")]
    comparison = Comparison(options)
    status = comparison.run(cases)
    for failure in comparison.failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
