"""What a command prints and writes, and how it ends."""
