"""Chapter 17, RAG: answers generated from retrieved documents, which DPR finds."""
