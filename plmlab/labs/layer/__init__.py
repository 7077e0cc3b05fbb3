"""The Layer Lab: contextual word vectors layer by layer, and nearest neighbours under a scalar mix of the layers."""
