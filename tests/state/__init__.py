"""Random programs with state: wf.jit(f) must leave behind what plain Python does; see __main__.py."""
