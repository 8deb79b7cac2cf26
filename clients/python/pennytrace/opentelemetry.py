"""
Marks the model calls that follow a compiled prompt, in traces of OpenTelemetry: they get `pennytrace.prompt.name` and
`pennytrace.prompt.version`.

    provider.add_span_processor(PromptSpanProcessor())
"""
from __future__ import annotations

import re
from contextvars import ContextVar
from itertools import count
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
    """A prompt that was compiled."""

    name: str
    version_index: int | None
    number: int
    before: tuple[int, ...]
    """Those that were compiled before in the same context, the latest first, as far as it matters."""
    trace_id: int | None
    """The trace in which that was, if a span was active."""


# How many of those that were compiled before are remembered: each keeps a number.
_MAX_BEFORE = 16

# A function that waits for a task or a thread does not see what that has left in its context. So a mark also stays at the
# spans that were active, from the inmost to the root. A context's own mark goes before that of its spans, unless the latter
# was compiled later in this context or below it: then it is no neighbor's that runs at the same time.
_own: ContextVar[_Compiled | None] = ContextVar("pennytrace-prompt", default=None)
_at_spans: WeakKeyDictionary[trace.Span, _Compiled] = WeakKeyDictionary()
_parents: WeakKeyDictionary[trace.Span, trace.Span] = WeakKeyDictionary()
_numbers = count()


def _mark(name: str, version_index: int | None) -> None:
    former = _own.get()
    before = (former.number, *former.before)[:_MAX_BEFORE] if former else ()
    span: trace.Span | None = trace.get_current_span()
    place = span.get_span_context() if span else None
    trace_id = place.trace_id if place and place.is_valid else None
    compiled = _Compiled(name, version_index, next(_numbers), before, trace_id)
    _own.set(compiled)
    while span and trace_id:
        _at_spans[span] = compiled
        span = _parents.get(span)


def _find(span: Span, parent: trace.Span) -> _Compiled | None:
    """Notes a span that starts, and finds what is compiled for it."""
    own = _own.get()
    if own and own.trace_id not in (None, span.get_span_context().trace_id):
        own = None
    above: trace.Span | None = None
    if parent.get_span_context().is_valid:
        _parents[span] = above = parent
    while above and above not in _at_spans:
        above = _parents.get(above)
    at_span = _at_spans.get(above) if above else None
    return at_span if at_span and (not own or own.number in at_span.before) else own


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
    compiled last in the same context (contextvars) and, if a span was active then, in the same trace. The SDK lets nobody
    mark a span at its end, so only spans are marked that say at their start that they are model calls.
    """

    def __init__(self) -> None:
        _prompt.on_compile = _mark

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        compiled = _find(span, trace.get_current_span(parent_context))
        if compiled and _is_model_call(span):
            _write(span, compiled)
