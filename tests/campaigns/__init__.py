"""Long campaigns: seeded faults, new instances every night, tampered certificates, theorems. Each is a `make` target."""
