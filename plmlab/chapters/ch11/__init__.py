"""Chapter 11, XLNet and MPNet: its experiments and exercises."""
