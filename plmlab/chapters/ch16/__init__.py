"""Chapter 16, REALM: masked language modelling with retrieved documents."""
