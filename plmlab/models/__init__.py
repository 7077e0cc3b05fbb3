"""The models, one system per file; each file registers the model's input format and its pretraining."""
