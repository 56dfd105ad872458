"""From result files to metrics, bounds, figures and reports."""
