"""What only chapter 10 uses: its experiments, its recipe, its exercises."""
