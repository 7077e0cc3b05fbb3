"""Chapter 00, start here."""
