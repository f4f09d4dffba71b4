"""Readers and writers of the binary files a build makes. Knows nothing of any other room."""
