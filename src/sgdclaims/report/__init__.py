"""The verdict table and the reports. No torch."""
