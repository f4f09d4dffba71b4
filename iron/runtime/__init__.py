"""Tensors, the current device, and what runs a built design. Knows nothing of designs or builds."""
