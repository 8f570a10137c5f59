def refusal(problem): return "stub"
