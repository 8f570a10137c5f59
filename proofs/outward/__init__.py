"""Proven intervals of programs of solver size, in floats rounded outward."""

from equimargin.proofs.outward.interval import FormInterval, form_interval

__all__ = ["FormInterval", "form_interval"]
