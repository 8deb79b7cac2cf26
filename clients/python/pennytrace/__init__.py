"""
Prompts of pennytrace for programs. They are answered from memory, which is renewed beside; a service that is slow,
broken or away keeps no program from going on.
"""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ._client import PennytraceClient
from ._prompt import MessagesPrompt, Prompt, PromptError, TextPrompt

__all__ = ["MessagesPrompt", "PennytraceClient", "Prompt", "PromptError", "TextPrompt", "get_prompt"]

_client: PennytraceClient | None = None
_lock = threading.Lock()


def _get_prompt(name: str, **options: Any) -> Any:
    """
    `PennytraceClient.get_prompt` of a client that is set by PENNYTRACE_URL, PENNYTRACE_KEY and PENNYTRACE_PROJECT.
    """
    global _client
    with _lock:
        _client = _client or PennytraceClient()
    return _client.get_prompt(name, **options)


if TYPE_CHECKING:
    _typed: PennytraceClient
    get_prompt = _typed.get_prompt
else:
    get_prompt = _get_prompt
    get_prompt.__name__ = get_prompt.__qualname__ = "get_prompt"
