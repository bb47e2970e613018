"""What an installed wheel must do by itself: import quickly, compile, and give NumPy's answer."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np


def seconds_to_import(module: str) -> float:
    """The least of five fresh interpreters."""
    code = f"import time, numpy; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(5)
    ]
    return min(float(run.stdout) for run in runs)


def main() -> None:
    spent = seconds_to_import("weftwork")
    print(f"import weftwork: {spent * 1e3:.0f} ms on top of numpy")
    assert spent < 0.1, "import weftwork must stay under 0.1 s"

    import weftwork as wf

    print(f"weftwork {wf.__version__} from {wf.__file__}")
    if not hasattr(wf, "jit"):
        return
    x = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
    start = time.perf_counter()
    result = wf.jit(lambda x: np.tanh(x) + 1)(x)
    print(f"jit(tanh(x) + 1): {(time.perf_counter() - start) * 1e3:.1f} ms")
    np.testing.assert_allclose(result, np.tanh(x) + 1, rtol=1e-6)
    subprocess.run([Path(sys.executable).with_name("weft"), "ops", "tanh"], check=True)


if __name__ == "__main__":
    main()
