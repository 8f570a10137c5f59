"""The data sets of the leaderboard."""

from benchmark_utils import instances
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Data sets of the leaderboard.

    Sixteen: bundled with scikit-learn, drawn with a fixed seed, or files of public data
    that may be missing.
    """

    name = "leaderboard"
    requirements = ("pip::scikit-learn",)
    # benchopt takes plain containers.
    parameters = {"data": list(instances.present())}  # noqa: RUF012

    def get_data(self):
        """Return X (n, d) and y (n,), in {-1, 1} for two classes."""
        X, y = instances.data(self.data)
        return {"X": X, "y": y}
