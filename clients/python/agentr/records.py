"""Trees, rows, episodes and runs, as dataclasses."""

import collections
import dataclasses
import json
import os
import re
from typing import Any, Dict, Iterator, List, Optional


@dataclasses.dataclass
class Message:
    """One message of a conversation. `trained`: whether its tokens have a loss, None where the file does not say."""
    role: str
    content: str
    trained: Optional[bool] = None


@dataclasses.dataclass
class Node:
    """One turn in a tree of a search: a response, and what the environment answered.

    value is the sum of the rewards that were backed up through the node, in [0, visits]; its mean is
    `mean`. end is "" for a node that can be continued, else "done", "disaster", "depth" or "cut".
    """
    index: int
    parent: int  # -1: the root
    depth: int
    response: str
    action: str
    observation: str
    reward: float = 0.0
    visits: int = 0
    value: float = 0.0
    end: str = ""
    token_ids: List[int] = dataclasses.field(default_factory=list)
    logprobs: List[float] = dataclasses.field(default_factory=list)
    children: List[int] = dataclasses.field(default_factory=list)
    more: Dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def mean(self):
        return self.value / self.visits if self.visits else 0.0


@dataclasses.dataclass
class Tree:
    """The search of one task. nodes[0] is the root; parents stand before their children."""
    task: int
    family: str
    model: str
    instruction: List[Message]
    nodes: List[Node]
    search: Dict[str, Any]
    path: str
    more: Dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def leaves(self):
        """The nodes at which an episode ended."""
        return [node for node in self.nodes if node.end]

    @property
    def best_reward(self):
        return max((node.reward for node in self.leaves), default=0.0)

    def path_to(self, node):
        """The nodes from the root's first child to `node`, which may be an index."""
        if isinstance(node, int):
            node = self.nodes[node]
        path = []
        while node.parent >= 0:
            path.append(node)
            node = self.nodes[node.parent]
        return path[::-1]


@dataclasses.dataclass
class Row:
    """One training example. provenance says where it comes from; {} where nothing does."""
    task: Optional[int]
    messages: List[Message]
    provenance: Dict[str, Any]
    more: Dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def trained(self):
        return [message for message in self.messages if message.trained]


@dataclasses.dataclass
class Episode:
    """One playing of a task by agent_eval. reward is in [0, 1]; end as in the file ("done", "max_steps", …)."""
    task: int
    attempt: int
    reward: float
    steps: int
    end: str
    model: str
    messages: List[Message]
    turns: List[Dict[str, Any]]
    path: str
    more: Dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Run:
    """One start of a program, from a run.json. options are those that it ran with."""
    program: str
    version: str
    options: Dict[str, Any]
    path: str
    more: Dict[str, Any] = dataclasses.field(default_factory=dict)


def _load(path):
    with open(path, encoding="utf-8") as file:
        try:
            return json.load(file)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


def _rest(record, known):
    return {name: value for name, value in record.items() if name not in known}


def _messages(records):
    """Of OpenAI's form; `loss` (Agent-R) and `weight` (OpenAI) say what is trained."""
    result = []
    for record in records:
        trained = record.get("loss")
        if trained is None and "weight" in record:
            trained = record["weight"] > 0
        result.append(Message(record["role"], record.get("content") or "", trained))
    return result


_NODE = ("parent", "response", "action", "observation", "reward", "visits", "value", "end", "token_ids",
         "logprobs")
_TREE = ("format", "version", "task", "family", "model", "instruction", "nodes", "search")


def _compact_tree(document, path):
    if document.get("version") != 1:
        raise ValueError(f"{path}: tree format version {document.get('version')} is unknown")
    nodes = []
    for index, record in enumerate(document["nodes"]):
        parent = record.get("parent", -1)
        if (parent < 0) != (index == 0) or parent >= index:
            raise ValueError(f"{path}: node {index} has the parent {parent}")
        nodes.append(Node(index, parent, nodes[parent].depth + 1 if index else 0,
                          record.get("response", ""), record.get("action", ""), record["observation"],
                          record.get("reward", 0.0), record.get("visits", 0), record.get("value", 0.0),
                          record.get("end", ""), record.get("token_ids", []), record.get("logprobs", []),
                          more=_rest(record, _NODE)))
        if index:
            nodes[parent].children.append(index)
    return Tree(document["task"], document["family"], document["model"],
                _messages(document["instruction"]), nodes, document["search"], path,
                _rest(document, _TREE))


_AGENT_R = ("children", "state", "obs", "llm_response", "action", "env_score", "visits", "value", "depth",
            "is_terminal", "disaster", "end")


def _agent_r_tree(document, path):
    """Agent-R's own format: it has neither the model nor the options, and its task is in its name."""
    nodes, open_ = [], collections.deque([(document, -1)])
    while open_:
        record, parent = open_.popleft()
        index = len(nodes)
        end = ""
        if record["is_terminal"] and not record["children"]:
            end = "disaster" if record.get("disaster") else record.get("end", "done")
        root = parent < 0
        nodes.append(Node(index, parent, record["depth"], "" if root else record["llm_response"],
                          "" if root else record["action"], record["obs"], record.get("env_score") or 0.0,
                          record["visits"], record["value"], end, more=_rest(record, _AGENT_R)))
        if not root:
            nodes[parent].children.append(index)
        open_ += [(child, index) for child in record["children"]]
    task = re.search(r"(\d+)\.json$", os.path.basename(path))
    return Tree(int(task.group(1)) if task else -1, "", "", _messages(document["state"][:-1]), nodes, {},
                path)


def read_tree(path) -> Tree:
    """A tree in either format. Raises ValueError that names the file if it is none."""
    path = os.fspath(path)
    document = _load(path)
    if document.get("format") == "agentr-tree":
        return _compact_tree(document, path)
    if "llm_response" in document and "children" in document:
        return _agent_r_tree(document, path)
    raise ValueError(f"{path}: this is no tree")


_EPISODE = ("task_id", "attempt", "env_score", "step_num", "end", "model_name", "state", "turns", "format",
            "version")


def read_episode(path) -> Episode:
    """An episode of agent_eval or of Agent-R. Raises ValueError that names the file if it is none."""
    path = os.fspath(path)
    record = _load(path)
    if "env_score" not in record or "state" not in record or "children" in record:
        raise ValueError(f"{path}: this is no episode")
    return Episode(int(record["task_id"]), record.get("attempt", 0), record["env_score"],
                   record["step_num"], record.get("end", ""), record["model_name"],
                   _messages(record["state"]), record.get("turns", []), path, _rest(record, _EPISODE))


def _result_files(path):
    """The search_results_*.json in a folder and its folders, ordered by folder and by the numbers in their names."""
    path = os.fspath(path)
    if os.path.isfile(path):
        return [path]
    if not os.path.isdir(path):
        raise FileNotFoundError(path)
    found = []
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [os.path.join(folder, name) for name in files
                  if name.startswith("search_results_") and name.endswith(".json")]
    return sorted(found, key=lambda file: (os.path.dirname(file),
                                           [int(number) for number in re.findall(r"\d+", os.path.basename(file))]))


def trees(path) -> Iterator[Tree]:
    """The trees in a folder and its folders, one after the other, in order of their tasks; or of one file."""
    return map(read_tree, _result_files(path))


def episodes(path) -> List[Episode]:
    """The episodes in a folder and its folders, in order of their tasks and attempts; or of one file."""
    return [read_episode(file) for file in _result_files(path)]


def _lines(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None


_ROW = ("messages", "revise_log", "task_num", "provenance")


def rows(path) -> List[Row]:
    """The rows of a file of path_collect, in Agent-R's format or as messages, with their provenance."""
    path = os.fspath(path)
    beside = re.sub(r"(\.messages)?\.jsonl$", ".provenance.jsonl", path)
    origins = list(_lines(beside)) if beside != path and os.path.exists(beside) else []
    result = []
    for index, record in enumerate(_lines(path)):
        messages = record.get("messages", record.get("revise_log"))
        if messages is None:
            raise ValueError(f"{path}: row {index} has neither messages nor revise_log")
        origin = origins[index] if index < len(origins) else record.get("provenance")
        if not isinstance(origin, dict):
            origin = {}
        task = origin.get("task", record.get("task_num"))
        result.append(Row(None if task is None else int(task), _messages(messages), origin,
                          _rest(record, _ROW)))
    return result


def runs(path) -> List[Run]:
    """The runs of a run.json (or of a file NAME.run.json), or of all in a folder and its folders."""
    path = os.fspath(path)
    if os.path.isdir(path):
        found = [os.path.join(folder, name) for folder, _, files in os.walk(path) for name in files
                 if name == "run.json" or name.endswith(".run.json")]
        return [run for file in sorted(found) for run in runs(file)]
    document = _load(path)
    return [Run(record.get("program", ""), record.get("version", ""), record.get("options", {}), path,
                _rest(record, ("program", "version", "options")))
            for record in document.get("runs", [document])]


def frame(records):
    """A pandas DataFrame with a line for each record; of a Tree, for each of its nodes."""
    import pandas

    if isinstance(records, Tree):
        records = records.nodes
    lines = []
    for record in records:
        line = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
        line.update(line.pop("more", {}))
        if isinstance(record, Node):
            line["mean"] = record.mean
        elif isinstance(record, Tree):
            line.update(nodes=len(record.nodes), leaves=len(record.leaves), best_reward=record.best_reward)
        elif isinstance(record, Row):
            line.update(trained_turns=len(record.trained), **{
                name: record.provenance.get(name) for name in ("mistake", "replay", "verifier")})
        lines.append(line)
    return pandas.DataFrame(lines)
