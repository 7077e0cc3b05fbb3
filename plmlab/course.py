"""The chapters of the course, and the family tree of its models."""

import csv
import importlib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from plmlab.paths import DATA, ROOT


@dataclass(frozen=True)
class Chapter:
    """A chapter, or a part of one ("12a") where a chapter has several notebooks: key, slug (used in the file name),
    title in English and Chinese, and the question that it answers."""

    key: str
    slug: str
    title: str
    chinese: str
    question: str

    @property
    def number(self) -> str:
        """Two-digit number of the chapter, which its parts share, as they share its package, exercises and results."""
        return self.key[:2]

    @property
    def file(self) -> str:
        """File name of the notebook, whether or not the file exists yet."""
        return f"{self.key}_{self.slug}.ipynb"

    def written(self, folder: Path = ROOT / "notebooks") -> bool:
        """Whether the notebook exists."""
        return (folder / self.file).exists()


CHAPTERS = tuple(Chapter(*row) for row in (
    ("00", "start_here", "Start here", "从这里开始", "What is in the course, and does it run on my machine?"),
    ("01", "rnn", "RNN, LSTM, GRU", "循环神经网络", "How can a network remember?"),
    ("02", "word_vectors", "Word vectors", "词向量", "How does a word get its vector?"),
    ("03", "language_models", "Language models and decoding", "语言模型与解码",
     "How is text generated from probabilities?"),
    ("04", "seq2seq", "Seq2seq and attention", "编码器–解码器与注意力", "Why is one vector not enough for a sentence?"),
    ("05", "elmo", "ELMo", "上下文词向量", "How can one word have many vectors?"),
    ("06", "transformer", "The Transformer", "自注意力", "What if every word attends to every other?"),
    ("07", "gpt", "GPT", "生成式预训练", "What does a model learn by predicting the next word?"),
    ("08", "bert", "BERT", "双向编码器", "What does bidirectional context add?"),
    ("09", "bert_family", "BERT's family", "BERT 的变体", "Which of BERT's choices mattered?"),
    ("10", "transformer_xl", "Transformer-XL", "段级循环", "How does attention reach beyond its window?"),
    ("11", "xlnet", "XLNet and MPNet", "排列语言模型", "Can a model predict in any order?"),
    ("12a", "unilm", "UniLM", "统一预训练", "Can one model both understand and generate?"),
    ("12b", "glm", "GLM", "自回归填空", "How is a gap of unknown length filled?"),
    ("13", "encoder_decoders", "Encoder–decoders", "MASS、T5、BART",
     "What should be corrupted, and what reconstructed?"),
    ("14", "cogqa", "CogQA", "认知图谱", "How is a multi-hop question answered?"),
    ("15", "cogltx", "CogLTX", "长文本", "How does a model with a short window process a long text?"),
    ("16", "realm", "REALM", "检索增强预训练", "Can a model learn to retrieve?"),
    ("17", "rag", "RAG", "检索增强生成", "Can a model retrieve while it generates?"),
    ("18a", "knowledge_bases", "Knowledge bases", "知识库", "Can a language model use a knowledge base?"),
    ("18b", "entity_memories", "Entity memories", "实体记忆",
     "Can facts be separated from the language model, and edited?"),
    ("19", "fast_transformer_audit", "An audit", "一次审查", "How is a claim checked that cannot be computed here?"),
    ("20", "which_model_when", "Which model when", "迁移学习", "Which model for which task, and which claims held?"),
))


def notebooks() -> dict[str, Path]:
    """The notebooks written so far: key of the chapter or part → path."""
    return {chapter.key: ROOT / "notebooks" / chapter.file for chapter in CHAPTERS if chapter.written()}


ROOMS = Path(__file__).parent / "chapters"


def chapters_with(part: str, rooms: Path = ROOMS) -> list[str]:
    """Two-digit numbers of the chapters whose subpackage has a module called ``part``, such as "exercises"."""
    return sorted(path.parent.name.removeprefix("ch") for path in rooms.glob(f"ch[0-9][0-9]/{part}.py"))


def part_of(chapter: str, part: str) -> ModuleType:
    """Import the module ``part`` of a chapter ("06"). Raises ModuleNotFoundError if the chapter has no such module."""
    return importlib.import_module(f"plmlab.chapters.ch{chapter}.{part}")


@dataclass(frozen=True)
class Relative:
    """A model in the family tree: its date, branch, parents, main idea, and the key of the chapter that builds it."""

    name: str
    year: float
    branch: str
    parents: tuple[str, ...]
    chapter: str
    idea: str


def family() -> list[Relative]:
    """The models of the family tree in chronological order, from ``data/family_tree.tsv``."""
    with (DATA / "family_tree.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        return [Relative(r["name"], float(r["year"]), r["branch"], tuple(filter(None, r["parents"].split(", "))),
                         r["chapter"], r["idea"]) for r in rows]
