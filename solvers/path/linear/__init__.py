"""The regularisation paths of linear programs: one vertex after another, each optimal on an interval of lambda."""
