"""Programs with exact optima, as data sets of benchopt."""

from benchmark_utils import names, read
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Quadratic and linear programs with certificates of their exact optima."""

    name = "certificates"
    # benchopt takes plain containers.
    parameters = {"instance": names()}  # noqa: RUF012
    requirements = ("pip::scipy",)

    def get_data(self):
        """Return the program in doubles, and its optimum as a Fraction."""
        return vars(read(self.instance))
