"""Graphics card on a processor: kernels as C++, and arrays with CuPy's rules."""
