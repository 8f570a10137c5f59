"""Every reader in Atheris, one after the other: files that nobody would write (`make fuzz`).

python -m campaigns fuzz.every --seconds 600 svmlight csv
"""
