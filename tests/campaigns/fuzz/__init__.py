"""Files that nobody would write, for everything that reads files: `make fuzz`."""
