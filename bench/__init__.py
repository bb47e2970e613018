"""Measures Weftwork beside its peers and beside the machine; run by ``./dev bench``, explained in docs/bench.md."""
