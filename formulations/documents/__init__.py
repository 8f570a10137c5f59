"""The printed problems, one file a document, in the order of print; negative controls in `controls`."""

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
