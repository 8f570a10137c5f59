"""`python -m equimargin` is the command `equimargin`."""

from equimargin.cli import main

if __name__ == "__main__":
    main()
