"""Sphinx extensions: how the pages of the book are made from what notebooks show."""
