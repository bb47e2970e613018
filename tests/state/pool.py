"""Worker processes that run programs: one that crashes or hangs is an answer, and is replaced."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300  # seconds for one program, on a machine that others use as well
PROGRAMS = 1000  # of one process


class Worker:
    """One process; :meth:`ask` starts it where there is none."""

    def __init__(self, wrapper: str) -> None:
        self.wrapper = wrapper
        self.process: subprocess.Popen[str] | None = None
        self.asked = 0
        self.said = tempfile.TemporaryFile("w+")  # noqa: SIM115

    def start(self) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(ROOT / "python"), str(ROOT), os.environ.get("PYTHONPATH", "")])
        env = {"WEFT_VERIFY": "1", "WEFT_CACHE": "off", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        env["WEFT_THREADS"] = str(len(os.sched_getaffinity(0)))  # which OMP_NUM_THREADS says where nothing else does
        env |= os.environ | {"PYTHONPATH": path, "PYTHONHASHSEED": "0"}
        self.asked = 0
        self.said.seek(0)
        self.said.truncate()
        return subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-m", "tests.state.worker"], cwd=ROOT, env=env, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said,
        )  # fmt: skip

    def ask(self, **request: Any) -> dict[str, Any]:
        """The reply to a ``seed`` or a ``source``; a crash is a failure of kind "crash"."""
        if self.process is None or self.asked >= PROGRAMS:
            self.close()
            self.process = self.start()
        self.asked += 1
        process = self.process
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps({"wrapper": self.wrapper, **request}) + "\n")
            process.stdin.flush()
            ready = select.select([process.stdout], [], [], PATIENCE)[0]
            line = process.stdout.readline() if ready else None
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        if line is None:
            process.kill()
        code = process.wait()
        self.process = None
        kind, text = (
            ("hang", f"no answer in {PATIENCE} s")
            if line is None
            else ("crash", f"the process ended with {code}\n{self.last_words()}")
        )
        return {
            "failure": [kind, text],
            "ways": {},
            "calls": 0,
            "raised": 0,
            "tags": [],
            "source": request.get("source"),
        }

    def last_words(self) -> str:
        """What the process wrote last: faulthandler says where it was."""
        self.said.seek(0)
        return "\n".join(line for line in self.said.read()[-4000:].splitlines() if "/tests/state/" not in line)[:1500]

    def close(self) -> None:
        if self.process is not None:
            assert self.process.stdin
            self.process.stdin.close()
            self.process.wait(PATIENCE)
            self.process = None
