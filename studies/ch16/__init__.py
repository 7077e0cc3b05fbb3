"""Chapter 16: REALM, looking things up to fill a gap."""
