"""Quotas, pure: whose limit counts, what was used of it, and how long to hold back."""
