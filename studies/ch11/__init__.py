"""What only chapter 11 uses: its experiments, its recipe, its exercises."""
