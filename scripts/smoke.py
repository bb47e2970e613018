"""What an installed wheel must do by itself: import quickly, compile, and give NumPy's answer."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np


def seconds_to_import() -> tuple[float, float]:
    """What importing NumPy takes, and then Weftwork: the least of seven fresh interpreters."""
    now = "time.perf_counter()"
    code = f"import time; a = {now}; import numpy; b = {now}; import weftwork; print(b - a, {now} - b)"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(7)
    ]
    return min(float(first) for first, _ in runs), min(float(second) for _, second in runs)


def main() -> None:
    numpy, ours = seconds_to_import()
    print(f"import weftwork: {ours * 1e3:.0f} ms on top of numpy's {numpy * 1e3:.0f}")
    assert ours < 1.5 * numpy, "import weftwork must take no longer than one and a half imports of numpy"

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
