"""Scientific programs in plain NumPy with ordinary Python loops; ``@wf.jit`` compiles each as it stands."""
