"""What building costs, next to what it costs elsewhere: `python -m bench`."""
