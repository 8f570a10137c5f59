"""Published problems, one module per document, in the order of publication.

T is `yu_kim`, P `zapien`, K `kuo`, W `encyclopedia` and `general_machine`; the
thresholds of O are in `chu_shashua`, `ordered_thresholds` and `sum_of_margins`.
`coupling` has the probabilities of several classes, `controls` the negative controls.
"""

# Importing each module registers its formulations.
from equimargin.formulations.documents import (
    chu_shashua,
    controls,
    coupling,
    encyclopedia,
    general_machine,
    kuo,
    ordered_thresholds,
    sum_of_margins,
    yu_kim,
    zapien,
)

__all__ = [
    "chu_shashua",
    "controls",
    "coupling",
    "encyclopedia",
    "general_machine",
    "kuo",
    "ordered_thresholds",
    "sum_of_margins",
    "yu_kim",
    "zapien",
]
