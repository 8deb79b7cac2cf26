"""The OpenAI SDK under an instrumentation; the tool's span is by hand."""

import json
import sys

import tracing
from chat import QUESTION, answer, found
from opentelemetry import trace

tracer = trace.get_tracer("orders")
SESSION = {"session.id": "chat-1", "user.id": "ada"}


def by_semantic_conventions():
    from opentelemetry import _logs
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

    logs = LoggerProvider()
    logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    _logs.set_logger_provider(logs)
    OpenAIInstrumentor().instrument()
    from openai import OpenAI

    def lookup_order(order_id):
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup_order"}
        with tracer.start_as_current_span("execute_tool lookup_order", attributes=attributes):
            return found(order_id)

    with tracer.start_as_current_span("POST /chat", attributes=SESSION):
        print(answer(OpenAI(max_retries=0), lookup_order))
    logs.shutdown()


def by_openinference():
    from openinference.instrumentation import using_attributes
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument()
    from openai import OpenAI

    def lookup_order(order_id):
        attributes = {
            "openinference.span.kind": "TOOL",
            "tool.name": "lookup_order",
            "input.value": json.dumps({"order_id": order_id}),
        }
        with tracer.start_as_current_span("lookup_order", attributes=attributes):
            return found(order_id)

    attributes = {"openinference.span.kind": "CHAIN", "input.value": QUESTION, **SESSION}
    with using_attributes(session_id="chat-1", user_id="ada"):
        with tracer.start_as_current_span("chat", attributes=attributes):
            print(answer(OpenAI(max_retries=0), lookup_order))


{"openai-v2": by_semantic_conventions, "openinference": by_openinference}[sys.argv[1]]()
tracing.stop()
