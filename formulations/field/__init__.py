"""Problems of further publications, each with a deliberately wrong formulation.

huberised_hinge  soft margin with a differentiable hinge         Chapelle 2007;
                 Rosset and Zhu 2007
one_class        one-class SVM                                   Schölkopf et al. 2001
nu               nu-SVC and nu-SVR                               Schölkopf et al. 2000
one_norm_svm     1-norm SVM, a linear program                    Bradley and Mangasarian
                 1998; Zhu et al. 2003
                 1-norm SVM with the squared hinge               Yuan et al. 2010
multiclass       multiclass SVM as one optimisation              Crammer and Singer 2001
quantile         quantile (pinball) regression                   Koenker and Bassett 1978
lasso            lasso; group lasso, a second-order cone program  Tibshirani 1996; Yuan
                 and Lin 2006
least_squares    least-squares SVM, which is no SVM              Suykens and Vandewalle
                 1999
"""

# Importing each module registers its formulations.
from equimargin.formulations.field import (
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
