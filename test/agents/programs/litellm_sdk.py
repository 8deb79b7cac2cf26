"""LiteLLM's own callback for OpenTelemetry."""

import asyncio
import os

import litellm
from opentelemetry import trace
from types import SimpleNamespace
from chat import QUESTION, answer, found

litellm.callbacks = ["otel"]


def create(model, **rest):
    return litellm.completion(
        model=f"openai/{model}",
        api_base=os.environ["OPENAI_BASE_URL"],
        metadata={"session_id": "chat-1", "user_id": "ada"},
        user="ada",
        **rest,
    )


client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
print(answer(client, found))

import time

time.sleep(3)
flush = getattr(trace.get_tracer_provider(), "force_flush", None)
if flush:
    flush()
time.sleep(6)
