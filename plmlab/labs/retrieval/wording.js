// The words for the two kinds of model: a reader predicts a masked span, or a generator generates an answer.

const MASKED = {
  title: "What is retrieved, and what does the reader predict from it?",
  lead: "A retriever finds documents z for the query x; given each, a reader predicts the masked span y. A column is " +
    "as wide as p(z|x) and filled as high as p(y|z,x): the areas add up to p(y|x). Edit a document: which of the two " +
    "changes?",
  field: "the query, with one [MASK] per masked token", answer: "The masked span", model: "reader", form: "",
  exclude: "exclude from retrieval, as if the query had been taken from this document",
  note: "The retriever uses title and text, the reader only the text.",
};
const GENERATED = {
  title: "What is retrieved, and which answer is generated from it?",
  lead: "A retriever finds documents z for the question x; given each, a generator predicts the answer y. A column is " +
    "as wide as p(z|x) and filled as high as p(y|z,x): the areas add up to RAG-Sequence’s p(y|x). Below, the answer is " +
    "generated token by token. Edit a document: does the answer change?",
  field: "the question", answer: "The selected answer", model: "generator", form: " under RAG-Sequence",
  exclude: "exclude from retrieval",
  note: "Retriever and generator use title and text.",
};

export const wordsOf = ({ generated }) => (generated.length ? GENERATED : MASKED);
