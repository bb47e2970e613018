"""An interpreter of Python's bytecode: runs a function while it sees each read, store and call before it happens."""
