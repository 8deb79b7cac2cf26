"""
Marks the model calls that follow a compiled prompt, in traces of OpenTelemetry: they get `pennytrace.prompt.name` and
`pennytrace.prompt.version`.

    provider.add_span_processor(PromptSpanProcessor())
"""
from __future__ import annotations

import re
from contextvars import ContextVar
from typing import NamedTuple
from weakref import WeakKeyDictionary

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import Span, SpanProcessor

from . import _prompt

__all__ = ["PromptSpanProcessor"]

_NAME, _VERSION = "pennytrace.prompt.name", "pennytrace.prompt.version"

# What instrumentations write on spans of requests to models, and not on those of agents, tools and embeddings around
# them: OpenTelemetry's conventions, OpenInference, the AI SDK, OpenLLMetry, Langfuse and MLflow.
_MODEL_CALLS = {
    "gen_ai.operation.name": re.compile(r"chat|text_completion|generate_content"),
    "openinference.span.kind": re.compile(r"LLM"),
    "ai.operationId": re.compile(r".*\.do(?:Generate|Stream)"),
    "llm.request.type": re.compile(r"chat|completion"),
    "langfuse.observation.type": re.compile(r"generation"),
    "mlflow.spanType": re.compile(r'"?(?:LLM|CHAT_MODEL)"?'),
}


class _Compiled(NamedTuple):
    """What was compiled last, and the trace in which that was."""

    name: str
    version_index: int | None
    trace_id: int | None


_current: ContextVar[_Compiled | None] = ContextVar("pennytrace-prompt", default=None)


def _mark(name: str, version_index: int | None) -> None:
    span = trace.get_current_span().get_span_context()
    _current.set(_Compiled(name, version_index, span.trace_id if span.is_valid else None))


def _is_model_call(span: Span) -> bool:
    attributes = span.attributes or {}
    return any(value.fullmatch(str(attributes.get(key, ""))) for key, value in _MODEL_CALLS.items())


def _write(span: Span, compiled: _Compiled) -> None:
    # What the program has said itself stays.
    if _NAME in (span.attributes or {}):
        return
    span.set_attribute(_NAME, compiled.name)
    if compiled.version_index is not None:
        span.set_attribute(_VERSION, str(compiled.version_index))


class PromptSpanProcessor(SpanProcessor):
    """
    A span processor for the tracer provider, in any place of its list. It marks model calls with the prompt that was
    compiled last in the same context (contextvars) and, if a span was active then, in the same trace.
    """

    def __init__(self) -> None:
        _prompt.on_compile = _mark
        # Spans that have not said yet whether they are model calls.
        self._waiting: WeakKeyDictionary[Span, _Compiled] = WeakKeyDictionary()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        compiled = _current.get()
        if compiled is None or compiled.trace_id not in (None, span.context.trace_id):
            return
        if _is_model_call(span):
            _write(span, compiled)
        else:
            self._waiting[span] = compiled

    def _on_ending(self, span: Span) -> None:
        compiled = self._waiting.pop(span, None)
        if compiled and _is_model_call(span):
            _write(span, compiled)
