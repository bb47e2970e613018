"""Small executable files for `./dev fuzz --files` to begin with: python tests/fuzz/files.py FOLDER."""

import sys
from pathlib import Path

import numpy as np

import weftwork as wf


def doubled(x: wf.tensor[wf.mutable, np.float32, ("n", "m")]):  # noqa: F821
    x *= x.shape[0]
    return np.concatenate([x, x])


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    programs = {
        "constant": wf.compile(lambda x: x + np.array([1.5, 2.5, 3.5]), np.ones(3), target="x86-64"),
        "symbolic": wf.compile(doubled, wf.spec(("n", "m"), np.float32), target="x86-64"),
        "routine": wf.compile(lambda x: np.sort(np.sin(x)), np.ones(3), target="x86-64"),
        "empty": wf.compile(lambda x: x, np.ones(3), target="x86-64"),
    }
    for name, program in programs.items():
        program.save(folder / name)
