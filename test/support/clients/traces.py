"""A program that traces itself and uses the client of Python; traces.mjs is the same in JavaScript."""
import asyncio
import json

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pennytrace import get_prompt
from pennytrace.opentelemetry import PromptSpanProcessor

spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
provider.add_span_processor(PromptSpanProcessor())
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("test")
CHAT = {"gen_ai.operation.name": "chat"}


def model(name, attributes=CHAT):
    with tracer.start_as_current_span(name, attributes=attributes):
        pass


def compile(name):
    get_prompt(name, fallback="Hello").compile()


with tracer.start_as_current_span("request"):
    model("before")
    compile("one")
    with tracer.start_as_current_span("agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
        model("nested")
        model("openinference", {"openinference.span.kind": "LLM"})
        model("ai-sdk", {"ai.operationId": "ai.generateText.doGenerate"})
        model("mlflow", {"mlflow.spanType": '"CHAT_MODEL"'})
        model("tool", {"gen_ai.operation.name": "execute_tool"})
        model("embedding", {"gen_ai.operation.name": "embeddings"})
        model("http", {})
    with tracer.start_as_current_span("late") as span:
        span.set_attributes(CHAT)
    model("own", {**CHAT, "pennytrace.prompt.name": "mine"})
    compile("two")
    model("second")
    compile("none")
    model("fallback")
model("other trace")


async def branch(name):
    compile(name)
    await asyncio.sleep(0.02)
    model(f"branch {name}")


async def compile_in_task(name):
    await asyncio.create_task(asyncio.to_thread(compile, name))


async def parallel(name):
    with tracer.start_as_current_span(f"parallel {name}"):
        compile(name)
        await asyncio.sleep(0.02)
        model(f"of {name}")


async def both():
    with tracer.start_as_current_span("tasks"):
        with tracer.start_as_current_span("helper"):
            await compile_in_task("one")
        model("after helper")
        compile("two")
        model("direct")
        await compile_in_task("one")
        model("mixed")
        await asyncio.gather(branch("one"), branch("two"))
    await asyncio.gather(parallel("one"), parallel("two"))


asyncio.run(both())
keys = ("pennytrace.prompt.name", "pennytrace.prompt.version")
marks = {span.name: [span.attributes.get(key) for key in keys] for span in spans.get_finished_spans()}
print(json.dumps(marks))
