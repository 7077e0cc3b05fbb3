"""What the course shows as recorded, a folder a chapter: `plmlab recipe NN` runs the chapter's recipe."""
