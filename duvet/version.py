"""The version, which the package takes from here."""

VERSION = "0.1.0"
