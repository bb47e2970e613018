"""Search text that no process could hold by meaning: each worker reads, embeds and forgets one block after the other.

python examples/semantic_search_cluster.py "how do I cook rice" corpus/*.txt                    # Dask, workers on this machine
python examples/semantic_search_cluster.py QUERY FILES --scheduler tcp://head:8786              # Dask, a cluster that is there
mpiexec -n 4 python examples/semantic_search_cluster.py QUERY FILES --ranks                     # ranks; also torchrun, srun
"""

from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from minilm import load_tokenizer, load_weights
from passages import PASSAGES
from semantic_search import Embedder, compiled, make_embedder, tokens_of

import weftwork as wf


@dataclass(frozen=True)
class Block:
    """Bytes of a file."""

    path: str
    begin: int
    end: int


@dataclass(frozen=True, order=True)
class Hit:
    """A paragraph and its likeness to the query; it orders by likeness, then by place."""

    score: float
    path: str
    begin: int
    text: str


def blocks_of(paths: Iterable[Path], size: int) -> list[Block]:
    """The files, cut into pieces of so many bytes, of which nothing is read yet."""
    blocks = []
    for path in paths:
        length = path.stat().st_size
        blocks += [Block(str(path.resolve()), begin, min(begin + size, length)) for begin in range(0, length, size)]
    return blocks


def text_of(lines: Iterable[bytes]) -> str:
    return re.sub(r"\s+", " ", b"".join(lines).decode("utf-8", "replace")).strip()


def text_at(path: str, begin: int) -> str:
    """The paragraph that begins there."""
    with open(path, "rb") as file:
        file.seek(begin)
        return text_of(itertools.takewhile(bytes.strip, file))


def paragraphs(block: Block) -> Iterator[tuple[int, str]]:
    """(first byte, text) of the paragraphs after an empty line that begins in the block, or after the begin of the file."""
    with open(block.path, "rb") as file:
        file.seek(block.begin)
        at = block.begin + len(file.readline() if block.begin > 0 else b"")  # the rest of a line of the block before
        is_ours, start, lines = block.begin == 0, at, []
        for line in itertools.chain(file, [b""]):
            if line.strip():
                if not lines:
                    start = at
                if is_ours:
                    lines.append(line)
            else:
                if lines:
                    yield start, text_of(lines)
                if at > block.end:
                    return
                is_ours, lines = True, []
            at += len(line)


@functools.cache
def embedder() -> tuple[Any, Embedder]:
    """The tokenizer and the compiled model of this process; what another has compiled is found in the cache."""
    return load_tokenizer(), compiled(make_embedder(load_weights()))


def best_of(hits: Iterable[Hit], top: int) -> list[Hit]:
    return sorted(hits, reverse=True)[:top]


def search_block(block: Block, query: str, top: int) -> list[Hit]:
    """The most alike paragraphs of a block."""
    tokenizer, embed = embedder()
    wanted = embed(*tokens_of(tokenizer, query))[0]
    hits = []
    for begin, text in paragraphs(block):
        score = float(embed(*tokens_of(tokenizer, text))[0] @ wanted)
        hits.append(Hit(round(score, 5), block.path, begin, text))
    return best_of(hits, top)


# -- who does it --------------------------------------------------------------------------------------------------


def on_dask(client: Any, blocks: Sequence[Block], query: str, top: int, shown: Callable[[int], None]) -> list[Hit]:
    """By the workers of a Dask client; what one had that is killed is done by another."""
    from distributed import as_completed

    hits: list[Hit] = []
    futures = client.map(search_block, blocks, query=query, top=top, pure=False, retries=3)
    for done, (future, found) in enumerate(as_completed(futures, with_results=True), 1):
        hits = best_of([*hits, *found], top)
        future.release()  # the scheduler forgets it
        shown(done)
    return hits


def on_ranks(blocks: Sequence[Block], query: str, top: int, shown: Callable[[int], None]) -> list[Hit]:
    """By the ranks of a launch, each its share; every rank gets the result."""
    rank, size = wf.distributed.rank(), wf.distributed.size()
    hits: list[Hit] = []
    for done, block in enumerate(blocks[rank::size], 1):
        hits = best_of([*hits, *search_block(block, query, top)], top)
        shown(min(done * size, len(blocks)))
    # Numbers are what ranks exchange: of each hit the likeness, and where it is.
    paths = sorted({block.path for block in blocks})
    row = np.full((top, 3), -1, np.int64)
    for place, hit in enumerate(hits):
        row[place] = round(hit.score * 1e5), paths.index(hit.path), hit.begin
    found = []
    for score, path, begin in wf.distributed.all_gather(row).tolist():
        if path >= 0:
            found.append(Hit(round(score / 1e5, 5), paths[path], begin, text_at(paths[path], begin)))
    return best_of(found, top)


def bar(total: int) -> Callable[[int], None]:
    """Shows how much is done, on a terminal."""
    try:
        from tqdm import tqdm
    except ImportError:
        return lambda done: None
    shown = tqdm(total=total, unit="block", disable=not sys.stderr.isatty())
    return lambda done: shown.update(done - shown.n) and None


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("query", nargs="?", default="how do I cook rice", help="what to look for")
    parser.add_argument("files", nargs="*", type=Path, help="UTF-8 text files; without any, built-in passages")
    parser.add_argument("--top", type=int, default=5, metavar="K", help="how many paragraphs to print (5)")
    parser.add_argument("--block", type=int, default=256, metavar="KIB", help="how much a worker reads at once (256)")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="worker processes of this machine (2)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="a Dask cluster instead of workers of this machine")
    parser.add_argument("--ranks", action="store_true", help="this process is a rank of mpiexec, torchrun or srun")
    arguments = parser.parse_args()
    if not arguments.query.strip():
        parser.error("the query is empty")
    if min(arguments.top, arguments.block, arguments.workers) < 1:
        parser.error("--top, --block and --workers must be at least 1")
    return arguments


def search(arguments: argparse.Namespace, paths: list[Path]) -> list[Hit]:
    blocks = blocks_of(paths, arguments.block << 10)
    if not blocks:
        raise SystemExit("the files hold no text")
    if arguments.ranks:
        shown = bar(len(blocks)) if wf.distributed.rank() == 0 else lambda done: None
        return on_ranks(blocks, arguments.query, arguments.top, shown)
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise SystemExit("a package is missing: pip install 'dask[distributed]'") from None
    if arguments.scheduler:
        with Client(arguments.scheduler) as client:
            return on_dask(client, blocks, arguments.query, arguments.top, bar(len(blocks)))
    local = LocalCluster(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=None)
    with local as cluster, Client(cluster) as client:
        return on_dask(client, blocks, arguments.query, arguments.top, bar(len(blocks)))


def main() -> int:
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        paths = arguments.files
        if not paths:
            paths = [Path(folder, "passages.txt")]
            paths[0].write_text("\n\n".join(PASSAGES) + "\n", encoding="utf-8")
        try:
            hits = search(arguments, paths)
        except OSError as error:
            raise SystemExit(f"{error.filename}: {error.strerror or error}") from None
    if not arguments.ranks or wf.distributed.rank() == 0:
        for place, hit in enumerate(hits, 1):
            text = hit.text if len(hit.text) < 100 else hit.text[:97] + "..."
            print(f"{place:2}. {hit.score:.3f}  {Path(hit.path).name}:{hit.begin}  {text}")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # Under its own name, by which workers import it.
    sys.exit(importlib.import_module("semantic_search_cluster").main())
