"""SMO on a graphics card: CuPy's arrays, and kernels in CUDA C."""
