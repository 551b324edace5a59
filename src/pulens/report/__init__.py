"""Renderings of finished results; they compute nothing."""
