"""Fuzzing of all file readers by Atheris, one after another (`make fuzz`).

python -m campaigns fuzz.every --seconds 600 svmlight csv
"""
