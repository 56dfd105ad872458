"""Who sends what to whom and when, and how it looks on the wire."""
