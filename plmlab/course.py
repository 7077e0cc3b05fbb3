"""The chapters of the course, and the family tree of its models."""

import csv
import importlib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from plmlab.paths import DATA, ROOT


@dataclass(frozen=True)
class Chapter:
    """A chapter: number, slug (used in the file name), title in English and Chinese, and the question that it
    answers."""

    number: int
    slug: str
    title: str
    chinese: str
    question: str

    @property
    def file(self) -> str:
        """File name of the chapter's notebook, whether or not the file exists yet."""
        return f"{self.number:02d}_{self.slug}.ipynb"

    def written(self, folder: Path = ROOT / "notebooks") -> bool:
        """Whether the notebook exists."""
        return (folder / self.file).exists()


CHAPTERS = tuple(Chapter(n, *row) for n, row in enumerate((
    ("start_here", "Start here", "从这里开始", "What is in the course, and does it run on my machine?"),
    ("rnn", "RNN, LSTM, GRU", "循环神经网络", "How can a network remember?"),
    ("word_vectors", "Word vectors", "词向量", "How does a word get its vector?"),
    ("language_models", "Language models and decoding", "语言模型与解码", "How is text generated from probabilities?"),
    ("seq2seq", "Seq2seq and attention", "编码器–解码器与注意力", "Why is one vector not enough for a sentence?"),
    ("elmo", "ELMo", "上下文词向量", "How can one word have many vectors?"),
    ("transformer", "The Transformer", "自注意力", "What if every word attends to every other?"),
    ("gpt", "GPT", "生成式预训练", "What does a model learn by predicting the next word?"),
    ("bert", "BERT", "双向编码器", "What does bidirectional context add?"),
    ("bert_family", "BERT's family", "BERT 的变体", "Which of BERT's choices mattered?"),
    ("transformer_xl", "Transformer-XL", "段级循环", "How does attention reach beyond its window?"),
    ("xlnet", "XLNet and MPNet", "排列语言模型", "Can a model predict in any order?"),
    ("unilm_glm", "UniLM and GLM", "统一预训练", "Can one model both understand and generate?"),
    ("encoder_decoders", "Encoder–decoders", "MASS、T5、BART", "What should be corrupted, and what reconstructed?"),
    ("cogqa", "CogQA", "认知图谱", "How is a multi-hop question answered?"),
    ("cogltx", "CogLTX", "长文本", "How does a model with a short window process a long text?"),
    ("realm", "REALM", "检索增强预训练", "Can a model learn to retrieve?"),
    ("rag", "RAG", "检索增强生成", "Can a model retrieve while it generates?"),
    ("entity_memories", "Entity memories", "实体记忆", "Can facts be separated from the language model, and edited?"),
    ("fast_transformer_audit", "An audit", "一次审查", "How is a claim checked that cannot be computed here?"),
    ("which_model_when", "Which model when", "迁移学习", "Which model for which task, and which claims held?"),
)))


def notebooks() -> dict[str, Path]:
    """The chapters written so far: two-digit number → path of the notebook."""
    return {f"{chapter.number:02d}": ROOT / "notebooks" / chapter.file for chapter in CHAPTERS if chapter.written()}


ROOMS = Path(__file__).parent / "chapters"


def chapters_with(part: str, rooms: Path = ROOMS) -> list[str]:
    """Two-digit numbers of the chapters whose subpackage has a module called ``part``, such as "exercises"."""
    return sorted(path.parent.name.removeprefix("ch") for path in rooms.glob(f"ch[0-9][0-9]/{part}.py"))


def part_of(chapter: str, part: str) -> ModuleType:
    """Import the module ``part`` of a chapter ("06"). Raises ModuleNotFoundError if the chapter has no such module."""
    return importlib.import_module(f"plmlab.chapters.ch{chapter}.{part}")


@dataclass(frozen=True)
class Relative:
    """A model in the family tree: its date, branch, parents, chapter and main idea."""

    name: str
    year: float
    branch: str
    parents: tuple[str, ...]
    chapter: int
    idea: str


def family() -> list[Relative]:
    """The models of the family tree in chronological order, from ``data/family_tree.tsv``."""
    with (DATA / "family_tree.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        return [Relative(r["name"], float(r["year"]), r["branch"], tuple(filter(None, r["parents"].split(", "))),
                         int(r["chapter"]), r["idea"]) for r in rows]
