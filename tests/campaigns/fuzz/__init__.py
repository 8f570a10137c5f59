"""Fuzzing of every reader by Atheris, one after the other (`make fuzz`).

python -m campaigns fuzz.every --seconds 600 svmlight csv
"""
