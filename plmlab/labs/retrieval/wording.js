// The words for each kind of model: what is retrieved, and what is predicted from it.

const MASKED = {
  title: "What is retrieved, and what does the reader predict from it?",
  lead: "A retriever finds documents z for the query x; given each, a reader predicts the masked span y. A column is " +
    "as wide as p(z|x) and filled as high as p(y|z,x): the areas add up to p(y|x). Edit a document: which of the two " +
    "changes?",
  field: "the query, with one [MASK] per masked token", answer: "The masked span", model: "reader", form: "",
  one: "document", many: "documents", nothing: "the null document", toggle: "null document",
  empty: "It is empty: predictions with it come from the weights alone.", without: "without a document",
  sum: ": the sum of the areas", adds: true, edited: true, added: "title",
  sample: "text, with spaces around words and punctuation: Flora Farrow was born in Norvik .",
  exclude: "exclude from retrieval, as if the query had been taken from this document",
  note: "The retriever uses title and text, the reader only the text.",
  ask: "The null document ∅ is empty. What does the reader predict with it, and with what probability?",
  told: ["Without a document it predicts", ": this is what it has memorized. With the documents"],
};
const GENERATED = { ...MASKED,
  title: "What is retrieved, and which answer is generated from it?",
  lead: "A retriever finds documents z for the question x; given each, a generator predicts the answer y. A column is " +
    "as wide as p(z|x) and filled as high as p(y|z,x): the areas add up to RAG-Sequence’s p(y|x). Below, the answer is " +
    "generated token by token. Edit a document: does the answer change?",
  field: "the question", answer: "The selected answer", model: "generator", form: " under RAG-Sequence", toggle: "",
  exclude: "exclude from retrieval",
  note: "Retriever and generator use title and text.",
};
const ENTITIES = { ...MASKED,
  title: "Which entities does the memory return, and what does the model predict with them?",
  lead: "The masked mention x retrieves entities z from the memory: one vector each. Their mean, weighted by p(z|x), is " +
    "added at the mention, and the layers above predict which entity y it names. A column is as wide as p(z|x) and " +
    "filled as high as p(y|z,x), the prediction if z alone is retrieved. The model mixes the vectors, not these " +
    "predictions, so p(y|x) is not the sum of the areas. Delete an entity: does the prediction change?",
  field: "a sentence, with one [MASK] per token of a mention", answer: "The masked mention", model: "model",
  one: "entity", many: "entities", nothing: "no vector", toggle: "without a vector", without: "without a vector",
  empty: "The prediction if nothing is added at the mention. It has no weight in the model.",
  sum: " of the model, with the mixed vector", adds: false, edited: false, exclude: "",
  note: "An entity has no text: its vector was learned together with the other weights. A deleted entity is not " +
    "retrieved, but it can still be predicted.",
  ask: "What does the model predict without a vector from the memory (∅), and with what probability?",
  told: ["Without a vector it predicts", ". With the entities"],
};
const FACTS = { ...ENTITIES,
  title: "Which facts does the memory return, and what does the model predict with them?",
  lead: "The masked mention x retrieves facts z by their key, which is computed from subject and relation. The value of " +
    "a fact is the vector of its objects; that of the null fact ∅ is the context, without any fact. A column is as " +
    "wide as p(z|x) and filled as high as p(y|z,x), the prediction if z alone is retrieved. The model mixes the vectors, " +
    "not these predictions, so p(y|x) is not the sum of the areas. Edit a fact: the prediction changes without training.",
  one: "fact", many: "facts", nothing: "the null fact", toggle: "", without: "from the context alone",
  empty: "It stands for “no fact of the memory answers this”: its prediction comes from the context alone.",
  edited: true, added: "subject · relation", sample: "the objects: Norvik ; Alder",
  note: "A key is the subject and the relation, a text the set of objects. All of them are entities and relations whose " +
    "vectors the model has learned; facts are not part of its weights.",
  ask: "What does the model predict from the context alone (∅), and with what probability?",
  told: ["From the context alone it predicts", ". With the facts"],
};

export const wordsOf = ({ kind }) => ({ masked: MASKED, generated: GENERATED, entities: ENTITIES, facts: FACTS })[kind];
