"""The printed problems, one file a document, in the order of print; negative controls in `controls`.

T is `yu_kim`, P `zapien`, K `kuo`, W `encyclopedia` and `general_machine`; the
thresholds of O are in `chu_shashua`, `ordered_thresholds` and `sum_of_margins`.
`coupling` has the probabilities of several classes.
"""

from equimargin.formulations.documents import (  # each enters its formulations
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
