"""The benchmarks of each kind of work; every file is a script of its own."""
