"""How data moves: fifos, and explicit flows and DMA programs."""
