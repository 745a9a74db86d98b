"""The version of the package, which is that of the server whose contract it speaks."""

__version__ = "0.1.0"
