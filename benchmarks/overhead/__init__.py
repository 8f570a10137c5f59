"""What running elsewhere adds to answers: studies, and partitions on a cluster."""
