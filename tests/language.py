"""The language of the course, as far as a pattern can tell it: what a sentence must not say, and which texts are read.

    python tests/language.py FILE…          every hit with its sentence
    python tests/language.py --update       lower the stored counts to today's

A rule of level E names what is wrong in English everywhere; one of level T a home-made word where the field has a term.
Code spans, formulas, links, tables' rules and reference lists are not read; <!-- lang: ok --> excuses a paragraph.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
COUNTS = Path(__file__).with_name("language_counts.json")
PAGES = ("README.md", "CONTRIBUTING.md", "data/README.md", "benchmarks/README.md")

MODEL = (r"(?:models?|networks?|BERT|GPT(?:-2)?|MPNet|XLNet|GLM|UniLM|ELMo|REALM|T5|decoder|encoder|reader|LSTM|RNN|"
         r"probe|head|it|they|which|that|who|one|must|may|can|cannot|could|to|would)")
PER = (r"(?:nats?|numbers?|bits?|rows?|tokens?|weights?|steps?|lines?|seconds?|updates?|spans?|labels?|positions?)")
UNIT = (r"(?:word|letter|token|text|subword|character|layer|position|seed|query|head|unit|step|sense|kind|update|"
        r"question|sentence|task|class|side|document|axis)")

RULES = {
    "E01": (
        r"(?:^|[.!?:;(] )Whoever [a-z]|(?:^|[.!?;(] )Who (?:has|says?|reads?|sees?|looks?|pays?|knows|guesses|"
        r"does not|remembers|labels|compares|then|can|writes?|is (?:told|asked|sure|below|not))\b|"
        r"(?<=[:;,] )who(?:ever)? (?:says?|has|reads|sees|knows|guesses|compares|does not|is (?:not )?told)\b",
        "who without a person: 'a model that …', 'always predicting …'", "Who reads it pays 0.2 nats."),
    "E02": (
        r"\b(?:one|two|three|four|none) (?:seeds? )?of (?:three|four)\b(?! or)|\bseeds? of three\b",
        "'all three seeds', 'two of the three seeds'", "It holds with two seeds of three."),
    "E03": (
        r"\btimes (?:of|in) (?:100|ten|three|a hundred)\b|\b(?:of|in) (?:100|a hundred)\b",
        "%", "It is right 99 times of 100."),
    "E04": (
        r"\bin the mean\b|\bin sum\b|\bin the main\b|(?:^|[.!?] )At last\b",
        "'on average', 'in total', 'mostly'", "0.08 in the mean."),
    "E05": (
        rf"\b{PER} an? {UNIT}\b",
        "per: 'nats per word'", "The loss is 0.42 nats a word."),
    "E06": (
        r"\bas (?:PyTorch|torch) begins\b|\bbegins? (?:with random|as the identity|untrained|in (?:two|"
        r"other) ways)\b",
        "'initialized with'", "The LSTM, as PyTorch begins it, forgets."),
    "E07": (
        r"(?<!times )(?<!X )\bas (?:many|much|often|likely|early|late|sure|surely|"
        r"firmly) (?!as\b)(?:[a-z]+ )?(?=[.,;:)]|texts?\b|tokens?\b|updates?\b|weights\b|"
        r"positions?\b)(?![^.;:]* as )",
        "complete the comparison: 'the same number of … as …'", "After as many updates it knows more."),
    "E08": (
        r"\bleave that away\b|\bleft that away\b|\bat large\b|\bturn(?:ed|s)? round\b",
        "leave out, enlarged, reversed", "One head at large."),
    "E09": (
        r"(?:^|[.!?] )Else\b|(?:^|[.!?] )So (?:is|are|has|have|did)\b(?! it)",
        "'Otherwise', 'The same is true of'", "Else it is None."),
    "E10": (
        r"[;,:] for (?:the|it|its|a|an|there|that|this|all|each|where|some|two|no|in|nothing|only|they|"
        r"every) (?:\w+ ){0,3}(?:is|are|was|were|has|have|does|do|can|may|must|counts?|takes?|gives?|makes?|"
        r"reads?|begins?)\b",
        "because", "It is slow, for it has many layers."),
    "E11": (
        r"\b\d+(?:\.\d+)?(?: of 100)? for \d+(?:\.\d+)?\b|\bin place of\b",
        "'compared with', 'instead of'", "It got 57 for 53 before."),
    "E12": (
        r"\b(?:with|in) (?:each|every) (?:of (?:its|the) )?(?:three )?seeds?\b",
        "'for every seed'", "It is above it with each seed."),
    "E13": (
        r"(?:is|are|was) a coin\b|\ba coin(?:'s| gets| has)\b|\bthan a coin\b",
        "'at chance (50 %)'", "It is no better than a coin."),
    "E14": (
        r"\b[Ss]ection \d+ (?:tells|says)\b|, section \d+ (?:tells|measures|shows)\b|, only the (?:text|row|"
        r"examples) says?\b",
        "the subject first: 'Section 8 measures …'", "How much that matters, section 8 measures."),
    "E15": (
        r"\bnobody (?:tells|told|asks|asked|says|can (?:come|know|save)|is done|comes|knows)\b|\bthan anybody\b",
        "name the agent, or use the passive", "It is so because nobody tells it."),
    "E16": (
        r"\bhangs? on\b",
        "'depends on'", "The result hangs on the rate."),
    "E17": (
        r"\b(?:may|can) not be (?:looked|read|seen)\b|\bcomes? (?:below|above)\b|\bgets? below\b",
        "'fall below', 'beat'", "No model comes below it."),
    "T01": (
        rf"\b{MODEL} (?:say|says|saying)\b(?! (?:in the paper|so|that|how|more|nothing about|whether|which|what|"
        r"why))|\bmust say\b|"
        r"\bto be said\b|\b(?:is|are|was|were|been|words?) said\b(?! (?:of|that))",
        "predict, generate", "Then it says the next word."),
    "T02": (
        r"\b(?:pays?|paid)\b(?! attention)|\bthe price of (?:a|each|the) word\b|\bdear(?:er|est)?\b|\bcheap(?:er|"
        r"est)? for\b",
        "loss, negative log-probability", "GPT pays 0.3 nats."),
    "T03": (
        r"\bcosts?\b(?=[^;]{0,30}\bnats?\b)",
        "'the loss is … nats'", "A word costs it 0.4 nats."),
    "T04": (
        r"\bslots?\b",
        "position, time step, [MASK] position", "Each slot has a vector."),
    "T05": (
        r"\b(?:positions?|words?|tokens?|nodes?|models?|network|BERT|GPT|XLNet|GLM|verb)\b[^.;:?!]{0,20}\b(?:is|"
        r"are|was|were) asked\b|\basked (?:for|in turn|at once|about every)\b",
        "is predicted, is a target, is queried", "A word that is asked has a vector."),
    "T06": (
        r"\bexams?\b",
        "test set", "The score in the exam."),
    "T07": (
        r"\b(?:best|perfect|exact|honest) (?:possible )?(?:reader|learner|filler)s?\b",
        "Bayes-optimal predictor", "The best reader knows it."),
    "T08": (
        r"\blinear reader\b",
        "linear classifier", "A linear reader finds it."),
    "T09": (
        r"\b(?:looks?|looked|looking) (?:at|across|around|back|past|ahead)\b(?=[^.]{0,60}\b(?:positions?|token|"
        r"word|head|query|key|decoder|it|source)\b)|\bmay (?:not )?look\b|\b(?:its|this|the same|put (?:this|the|"
        r"its)) look\b",
        "attends to, attention weights", "It may look at all tokens."),
    "T10": (
        r"\b(?:hear|hears|heard) (?:of|the|nothing|itself|whom|\()|\bwho hears whom\b|\bhave heard\b",
        "receives messages from, can be reached by", "A node hears itself."),
    "T11": (
        r"\bin (?:its |plain )?sight\b",
        "visible, in the context", "The words in sight."),
    "T12": (
        r"\b(?:stands?|stood) (?:in|on|at|beside|behind|before|after|there|here|above|below|where|to the|under|"
        r"between|by|apart|far|alone)\b",
        "is, appears, occurs", "What stands before the verb."),
    "T13": (
        r"\barms?\b",
        "configuration, variant, run", "Each arm is trained."),
    "T14": (
        r"\brivals?\b",
        "baseline", "The rival is a table."),
    "T15": (
        r"\bpieces? of (?:a )?words?\b|\bpieces of text\b",
        "subword", "It reads pieces of words."),
    "T16": (
        r"\b(?:numbers a word|vectors? of (?:one|two) numbers?|\d+ numbers)\b|\bnumber by number\b",
        "dimensions, element-wise", "Multiply number by number."),
    "T17": (
        r"\bfalse (?:pairs?|partners?)\b|\breal pairs?\b|\brandom partners?\b",
        "negative, positive pairs", "Five false pairs."),
    "T18": (
        r"(?<!-)\btun(?:ed|ing)\b(?! (?:the|of the|a) (?:learning )?rate)",
        "fine-tuned", "Before tuning it is weak."),
    "T19": (
        r"\bnormed\b|\bnorm (?:stands )?\*?(?:after|before)\*?\b",
        "normalized, pre-norm, post-norm", "It is normed."),
    "T20": (
        r"\bpush(?:es|ed)?\b(?! (?:them|vectors) apart)",
        "perturbation, update", "A push at step 3."),
    "T21": (
        r"\bby heart\b",
        "memorized", "It is learned by heart."),
    "T22": (
        r"\bmakes? (?:probabilities|weights|a (?:vector|number|logit|score)) of\b|\bwhat (?:the|its|"
        r"that very) (?:last |first )?(?:layers?|encoder|networks?) (?:has |have )?(?:made|makes?) of\b",
        "'the hidden states of the last layer'", "This is what the last layer makes of each word."),
    "T23": (
        r"\bthe mix\b",
        "mask mixture, layer weighting", "Here the mix is free."),
    "T24": (
        r"\bfrom the (?:left|right)\b",
        "left-to-right, right-to-left", "It reads from the left."),
    "T25": (
        r"\bout of (?:its|their) letters\b|\bletters? (?:alone|by letter|backwards)\b",
        "characters", "A word out of its letters."),
    "T26": (
        r"\bfirst signs?\b",
        "first symbol", "The first sign is 0 or 1."),
    "T27": (
        r"\bspoilt\b",
        "corrupted", "A spoilt sentence."),
    "T28": (
        r"\bchance of (?:being|at least)|\bmean chance\b",
        "probability", "The chance of being drawn."),
    "T29": (
        r"\bopen questions\b",
        "open-domain questions", "REALM answers open questions."),
}
"""Level and number → the pattern, what to write instead, and a sentence that has the fault."""
COMPILED = {key: re.compile(pattern, re.M) for key, (pattern, _, _) in RULES.items()}

TERMS = {
    "00": ("attention mask", "query", "key", "attend", "objective"),
    "01": ("hidden state", "cell state", "vanishing", "gradient clipping", "truncated backpropagation", "forget gate"),
    "02": ("skip-gram", "negative sampling", "noise distribution", "cosine", "co-occur", "embedding"),
    "03": ("perplexity", "n-gram", "smoothing", "beam search", "nucleus", "greedy decoding"),
    "04": ("encoder", "decoder", "attention weights", "alignment", "exposure bias", "BLEU"),
    "05": ("bidirectional", "character CNN", "contextual", "language model", "downstream"),
    "06": ("attends", "positional encoding", "pre-norm", "post-norm", "ablation", "multi-head", "residual"),
    "07": ("causal", "next token", "fine-tuning", "KV cache", "zero-shot", "logit lens"),
    "08": ("masked language model", "next-sentence prediction", "fine-tuning", "test set", "bidirectional"),
    "09": ("whole-word masking", "dynamic masking", "span boundary objective", "factorized embedding",
           "parameter sharing", "sentence-order prediction", "replaced-token detection", "generator",
           "discriminator", "ablation"),
    "10": ("relative position", "segment", "memory", "recurrence", "effective context length"),
    "11": ("permutation", "factorization order", "query stream", "content stream", "independence"),
    "12a": ("prefix language model", "sequence-to-sequence mask", "bidirectional", "forward pass", "left-to-right"),
    "12b": ("autoregressive", "infilling", "span", "2D positions", "permutation", "forward pass", "verbalizer"),
    "13": ("cross-attention", "span corruption", "sentinel", "denoising", "text infilling", "teacher forcing",
           "relative position bias", "RMSNorm", "encoder–decoder", "gap sentence", "continuation",
           "pointer-generator"),
    "14": ("multi-hop", "graph neural network", "supporting", "bridge", "message passing"),
    "15": ("working memory", "retrieval competition", "rehearsal", "decay", "multi-hop", "dynamic programming",
           "hard negatives", "sparse attention", "truncat", "oracle"),
    "16": ("retrieve", "recall@", "open-domain question answering", "marginal", "closed-book"),
    "17": ("retrieval-augmented generation", "in-batch negatives", "hard negative", "recall@", "marginal",
           "thorough decoding", "fast decoding", "hallucination", "exact match", "fusion-in-decoder"),
    "18a": ("knowledge base", "entity linking", "mention", "candidate", "prior", "pseudo-inverse", "margin loss",
            "BIO tag", "cosine", "F1"),
    "18b": ("entity memory", "entity linking", "mention", "inner product search", "null fact", "distant supervision",
            "key", "baseline", "contradict"),
}
"""Chapter or part ("12a") → terms that its prose is to use, so that a student can search for them."""

JS_TEXT = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`|//[^\n]*|/\*[\s\S]*?\*/|'(?:[^'\\\n]|\\.)*'")
ABBREVIATIONS = re.compile(r"\b(et al|eqs?|cf|vs|fig|figs|app|e\.g|i\.e)\.")


def cleaned(text: str) -> str:
    """The text without references, code, formulas, comments and tags."""
    text = re.sub(r"\*\*References\.\*\*[\s\S]*", "", text)
    text = re.sub(r"```[\s\S]*?```|\$\$[\s\S]*?\$\$", " ", text)
    text = re.sub(r"``[^`\n]*``|`[^`\n]*`|\$[^$\n]*\$", "X", text)
    text = re.sub(r"<!--[\s\S]*?-->", lambda found: "lang: ok" if "lang: ok" in found[0] else " ", text)
    return re.sub(r"<[^>\n]+>", "", text)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, each item and each row of a table by itself; headings are left out."""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|(?<=\|)\n", cleaned(text)):
        block = re.sub(r"\s+", " ", block).strip()
        if not block or block.startswith(("#", "|")) or "lang: ok" in block:
            continue
        block = ABBREVIATIONS.sub(lambda found: found[0][:-1] + "\1", block)
        for part in re.split(r"(?<=[.!?])(?:[\"”’)*_]*)\s+(?=[A-Z\"“*(\[X0-9])", block):
            if len(re.findall(r"[A-Za-z]{2,}", part)) >= 2:
                yield part.replace("\1", ".").strip()


def prose(notebook: Path) -> Iterator[str]:
    """The markdown cells of a notebook."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            yield "".join(cell["source"])


def docstrings(file: Path) -> Iterator[str]:
    """The docstrings of a module, of its classes and functions, and those below constants and fields."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield "\n".join(line.strip() for line in node.value.value.splitlines())


def strings(file: Path) -> Iterator[str]:
    """The string literals of a Python file that are no docstrings; {…} of an f-string is read as X."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (bare | parts):
            yield node.value


def script_strings(file: Path) -> Iterator[str]:
    """The string literals of a JavaScript file, those that + joins as one; ${…} is read as X, and then by itself."""
    parts = [file.read_text(encoding="utf-8")]

    def taken(inner: re.Match[str]) -> str:
        parts.append(inner[1])
        return "X"

    while (outer := re.sub(r"\$\{([^{}]*)\}", taken, parts[0])) != parts[0]:  # the innermost first
        parts[0] = outer
    for part in parts:
        text, end = "", 0
        for found in JS_TEXT.finditer(part):
            if found[0].startswith("/"):
                continue
            if not re.fullmatch(r"\s*\+\s*", part[end:found.start()]):
                yield text
                text = ""
            text, end = text + found[0][1:-1], found.end()
        yield text


def texts() -> Iterator[tuple[str, Iterator[str]]]:
    """Every file with what is read of it: prose of notebooks, docstrings, what labs show, pages; by kind and path."""
    for notebook in sorted(ROOT.glob("notebooks/*.ipynb")):
        yield f"prose {notebook.relative_to(ROOT)}", prose(notebook)
    for file in sorted([*ROOT.glob("plmlab/**/*.py"), *ROOT.glob("studies/**/*.py")]):
        yield f"docstrings {file.relative_to(ROOT)}", docstrings(file)
        if ROOT / "plmlab/labs" in file.parents:
            yield f"screen {file.relative_to(ROOT)}", strings(file)
    for file in sorted(ROOT.glob("plmlab/labs/**/*.js")):
        yield f"screen {file.relative_to(ROOT)}", script_strings(file)
    for page in PAGES:
        yield f"page {page}", iter([(ROOT / page).read_text(encoding="utf-8")])


def broken(sentence: str) -> list[str]:
    """The rules that a sentence breaks."""
    return [key for key, pattern in COMPILED.items() if pattern.search(sentence)]


def counts() -> dict[str, dict[str, int]]:
    """Kind and path → how many sentences break a rule, by level; files without any are left out."""
    found: dict[str, dict[str, int]] = {}
    for name, given in texts():
        keys = ["".join(broken(sentence)) for text in given for sentence in sentences(text)]
        levels = {level: sum(level in key for key in keys) for level in "ET"}
        if any(levels.values()):
            found[name] = levels
    return found


def missing_terms() -> dict[str, list[str]]:
    """Chapter or part → those of its `TERMS` that its prose does not use."""
    found = {}
    for chapter, terms in TERMS.items():
        [notebook] = ROOT.glob(f"notebooks/{chapter}_*.ipynb")
        text = re.sub(r"\s+", " ", " ".join(prose(notebook))).lower()
        found[chapter] = [term for term in terms if term.lower() not in text]
    return found


def now() -> dict[str, Any]:
    """Today's counts, as they are stored."""
    return {"sentences": counts(), "missing terms": missing_terms()}


def main() -> None:
    """Print the hits in some files, or store today's counts."""
    if sys.argv[1:] == ["--update"]:
        COUNTS.write_text(json.dumps(now(), indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    for name, given in texts():
        if any(str(Path(asked)) in name for asked in sys.argv[1:]):
            for sentence in (sentence for text in given for sentence in sentences(text)):
                for key in broken(sentence):
                    print(f"{name}: {key}: {RULES[key][1]}\n    {sentence}")


if __name__ == "__main__":
    main()
