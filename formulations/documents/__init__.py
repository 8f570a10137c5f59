"""Published problems, one module per document, in the order of publication.

Document T is in `yu_kim`, P in `zapien`, K in `kuo`, W in `encyclopedia` and
`general_machine`; ordinal regression with thresholds, as in O, is in `chu_shashua`,
`ordered_thresholds` and `sum_of_margins`. `coupling` has probabilities of several
classes, and `controls` negative controls. `DOCUMENTS` has the titles by letter.
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
