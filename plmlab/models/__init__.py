"""The models, one system per file. Each file also registers the model's input format and its pretraining."""
