"""Long trials of the whole service as processes: killed at random moments, and used for a long time (`make soak`)."""
