"""Linear margin problems on partitioned rows: sums and the bounds they prove."""
