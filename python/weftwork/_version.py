"""The version, written once: CMake, the package metadata and the compile cache read it here."""

__version__ = "0.1.0"
