"""Command `equimargin` as `python -m equimargin`."""

from equimargin.cli import main

if __name__ == "__main__":
    main()
