"""Layers that models are composed of, and the options that models share."""
