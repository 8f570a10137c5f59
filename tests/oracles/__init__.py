"""Oracles that share no code with what they judge: values in fractions, conditions of programs, reasons replayed."""
