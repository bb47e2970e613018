"""The libraries whose functions are recorded and replayed; requirements.txt pins their versions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Library:
    """An installed package, or a part of one.

    ``source`` names the sdist that holds its tests where no wheel does; ``skip`` the modules that are not recorded;
    ``counters`` attributes that names are made of: module, owner, attribute.
    """

    name: str
    package: str
    source: str = ""
    skip: tuple[str, ...] = ()
    counters: tuple[tuple[str, str, str], ...] = ()


#: Modules of no library are recorded whose names have one of these parts.
NEVER = ("tests", "test", "testing", "conftest", "setup", "__main__", "_pytesttester", "plotting", "examples")

LIBRARIES = [
    Library("transforms3d", "transforms3d"),
    Library("einops", "einops", skip=("einops.layers", "einops.experimental")),
    Library("pyquaternion", "pyquaternion"),
    Library("geomdl", "geomdl", skip=("geomdl.visualization",)),
    Library("scikit-fuzzy", "skfuzzy"),
    Library("filterpy", "filterpy", source="filterpy==2.0.0"),
    Library("pykalman", "pykalman"),
    Library("numdifftools", "numdifftools"),
    Library("uncertainties", "uncertainties", source="uncertainties==3.2.3"),
    Library("opt_einsum", "opt_einsum"),
    Library("bottleneck", "bottleneck"),
    Library("PyWavelets", "pywt", skip=("pywt.data",)),
    Library("mir_eval", "mir_eval", source="mir_eval==0.8.2", skip=("mir_eval.display",)),
    Library("autograd", "autograd", source="autograd==1.9.1"),
    Library("tensorly", "tensorly", skip=("tensorly.datasets",)),
    Library("POT", "ot"),
    Library("pvlib", "pvlib", source="pvlib==0.16.1", skip=("pvlib.iotools",)),
    Library("control", "control", counters=(("control.iosys", "InputOutputSystem", "_idCounter"),)),
    Library("colour-science", "colour", skip=("colour.io", "colour.graph")),
    Library("trimesh", "trimesh", source="trimesh==5.2.0", skip=("trimesh.viewer", "trimesh.exchange")),
    Library("networkx.linalg", "networkx.linalg"),
    Library("scipy.linalg", "scipy.linalg"),
    Library("scipy.stats", "scipy.stats"),
    Library("scipy.signal", "scipy.signal"),
    Library("scipy.interpolate", "scipy.interpolate"),
    Library("scipy.spatial", "scipy.spatial"),
    Library("scipy.optimize", "scipy.optimize"),
    Library("scipy.integrate", "scipy.integrate"),
    Library("emcee", "emcee"),
    Library("skimage", "skimage", skip=("skimage.io", "skimage.data")),
    Library("sklearn.metrics", "sklearn.metrics"),
]


def chosen(names: list[str] | None) -> list[Library]:
    """The libraries of these names, or all; an error names what there is."""
    known = {library.name: library for library in LIBRARIES}
    if unknown := [name for name in names or [] if name not in known]:
        raise SystemExit(f"no library {unknown[0]!r}; there are {', '.join(known)}")
    return [known[name] for name in names] if names else LIBRARIES
