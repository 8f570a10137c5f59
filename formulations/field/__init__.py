"""Problems of the field that no document prints, each with a mistake that is seeded on purpose.

huberised_hinge  the soft margin with a hinge without a kink  Chapelle 2007; Rosset and
Zhu 2007
one_class        one-class SVM                               Schölkopf et al. 2001
nu               nu-SVC and nu-SVR                           Schölkopf et al. 2000
one_norm_svm     1-norm SVM, a linear program                Bradley and Mangasarian 1998; Zhu et al. 2003
multiclass       the multiclass SVM of one optimisation      Crammer and Singer 2001
quantile         quantile (pinball) regression               Koenker and Bassett 1978
lasso            lasso; group lasso, a second-order cone program      Tibshirani 1996; Yuan and Lin 2006
least_squares    least-squares SVM, which looks like an SVM and is none      Suykens and Vandewalle 1999
"""

from equimargin.formulations.field import (  # each enters its formulations
    huberised_hinge,
    lasso,
    least_squares,
    multiclass,
    nu,
    one_class,
    one_norm_svm,
    quantile,
)

__all__ = [
    "huberised_hinge",
    "lasso",
    "least_squares",
    "multiclass",
    "nu",
    "one_class",
    "one_norm_svm",
    "quantile",
]
