"""Prompts as a program has them: what the service answered, or what the program falls back to."""
from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union


class PromptError(Exception):
    """What is wrong with a prompt, its variables, or the settings of the client."""


# Where compiled prompts are told, by their name and version; see opentelemetry.py.
on_compile: Callable[[str, "int | None"], None] | None = None

# What may not be text. The service's reader of templates is api/shared/prompt-variables.ts; both are held by the same cases.
_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]+)\}")


def _is_name(text: str) -> bool:
    """Whether it is an identifier. Words of some scripts have joiners, of which versions of Unicode disagree."""
    return text[:1].isidentifier() and re.sub("[\u200c\u200d]", "", text).isidentifier()


def _parse(template: str) -> Iterator[tuple[str, bool]]:
    """The pieces of a template: texts, and names of variables, which are identifiers."""
    at = 0
    while found := _TOKEN.search(template, at):
        yield template[at : found.start()], False
        variable = found[1]
        if variable is None:
            yield found[0][0], False
        elif _is_name(variable):
            yield variable, True
        else:
            # This brace is text, and what follows is not read yet.
            yield "{", False
            at = found.start() + 1
            continue
        at = found.end()
    yield template[at:], False


def _to_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _map(message: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """A message with its templates changed: the texts in it, and in the objects of its lists. No deeper ones."""

    def each(value: Any) -> Any:
        if isinstance(value, str):
            return change(value)
        if isinstance(value, list) and all(isinstance(part, dict) for part in value):
            return [_map(part, change) for part in value]
        return copy.deepcopy(value)

    return {key: each(value) for key, value in message.items()}


@dataclass(frozen=True)
class _Facts:
    name: str
    version_index: int | None
    """0, 1, 2, … in the order in which the versions were made; None of a fallback."""
    digest: str | None
    """The digest of this version; None of a fallback."""
    labels: list[str]
    """The labels of this version when it was read, but for `latest`."""
    config: dict[str, Any]
    """What goes with it: `model`, `parameters`, `tools`, `response_schema`, and whatever else it has."""

    def _messages(self) -> Sequence[Mapping[str, Any]]:
        raise NotImplementedError

    @property
    def variables(self) -> list[str]:
        """The names of the variables, in the order in which they come."""
        names: dict[str, None] = {}

        def look(template: str) -> str:
            names.update((piece, None) for piece, is_variable in _parse(template) if is_variable)
            return template

        for message in self._messages():
            _map(message, look)
        return list(names)

    def _fill(self, given: Mapping[str, Any] | None, more: Mapping[str, Any]) -> list[dict[str, Any]]:
        values = {**(given or {}), **more}
        missing = [name for name in self.variables if name not in values]
        if missing:
            version = "its fallback" if self.version_index is None else f"version {self.version_index}"
            lacking = ", ".join(f"{{{name}}}" for name in missing)
            raise PromptError(f"the prompt {self.name} ({version}) needs a value for {lacking}")

        def fill(template: str) -> str:
            pieces = _parse(template)
            return "".join(_to_text(values[piece]) if is_variable else piece for piece, is_variable in pieces)

        filled = [_map(message, fill) for message in self._messages()]
        if on_compile:
            on_compile(self.name, self.version_index)
        return filled


@dataclass(frozen=True)
class MessagesPrompt(_Facts):
    """A prompt of messages."""

    messages: list[dict[str, Any]]

    def _messages(self) -> Sequence[Mapping[str, Any]]:
        return self.messages

    def compile(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> list[Any]:
        """
        The messages with values in the place of variables. What is no text stands in them as JSON, and values without a
        variable are left out.

        Raises PromptError, which names the variables without a value.
        """
        return self._fill(values, more)


@dataclass(frozen=True)
class TextPrompt(_Facts):
    """A prompt that is one text."""

    text: str

    def _messages(self) -> Sequence[Mapping[str, Any]]:
        return [{"text": self.text}]

    def compile(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> str:
        """
        The text with values in the place of variables. What is no text stands in it as JSON, and values without a
        variable are left out.

        Raises PromptError, which names the variables without a value.
        """
        return str(self._fill(values, more)[0]["text"])


Prompt = Union[MessagesPrompt, TextPrompt]


def _are_messages(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(each, Mapping) for each in value)


def _make(name: str, version_index: int | None, digest: str | None, labels: list[str], said: Mapping[str, Any]) -> Prompt:
    config = said.get("config")
    facts = (name, version_index, digest, labels, copy.deepcopy(dict(config)) if isinstance(config, Mapping) else {})
    if _are_messages(said.get("messages")):
        return MessagesPrompt(*facts, [copy.deepcopy(dict(message)) for message in said["messages"]])
    if isinstance(said.get("text"), str):
        return TextPrompt(*facts, said["text"])
    raise ValueError("it is no prompt")


def parse_prompt(answer: str) -> Prompt:
    """The prompt that an answer of `GET /prompt/read` is. Raises ValueError if it is none, such as a proxy's page."""
    parsed = json.loads(answer)
    said = parsed if isinstance(parsed, dict) else {}
    name, version_index, digest = (said.get(field) for field in ("name", "version_index", "digest"))
    if not isinstance(name, str) or type(version_index) is not int or not isinstance(digest, str):
        raise ValueError("it is no prompt")
    labels = said.get("labels")
    return _make(name, version_index, digest, [str(label) for label in labels] if isinstance(labels, list) else [], said)


def fallback_prompt(name: str, fallback: str | Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> Prompt:
    """The prompt that a program falls back to."""
    if isinstance(fallback, Mapping):
        said = fallback
    else:
        said = {"text": fallback} if isinstance(fallback, str) else {"messages": fallback}
    try:
        return _make(name, None, None, [], said)
    except ValueError:
        raise PromptError(f"the fallback of the prompt {name} should be a text, messages, or a dict with either") from None
