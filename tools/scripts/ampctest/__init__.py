#===- __init__.py - shared parts of the Python test tools -----------------===#
"""Helpers that the scripts in tools/ and test/ share."""
