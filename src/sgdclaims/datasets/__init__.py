"""Data sets: sources, checksums, provenance, stand-ins."""
