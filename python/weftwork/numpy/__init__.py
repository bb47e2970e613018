"""NumPy as a front end."""
