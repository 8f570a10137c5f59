"""The printed problems, one file a document, in the order of print; negative controls in `controls`."""

from equimargin.formulations.documents import chu_shashua, controls, encyclopedia, kuo, yu_kim, zapien  # each enters its formulations

__all__ = ["chu_shashua", "controls", "encyclopedia", "kuo", "yu_kim", "zapien"]
