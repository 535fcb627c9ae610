"""Is the difference between two models real?"""
