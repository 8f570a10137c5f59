"""Linear margin problems on partitioned rows: sums, and the bounds that they prove."""
