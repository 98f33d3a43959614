"""Parse `paper_claims.md`, judge, controls, verdicts. No torch."""
