"""MLflow's tracing around the OpenAI SDK, sent by OpenTelemetry."""

import os

os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces"

import mlflow
from chat import QUESTION, answer, found
from mlflow.entities import SpanType
from openai import OpenAI

mlflow.openai.autolog()


@mlflow.trace(span_type=SpanType.TOOL)
def lookup_order(order_id):
    return found(order_id)


@mlflow.trace(name="order_agent", span_type=SpanType.AGENT)
def order_agent(question):
    mlflow.update_current_trace(
        metadata={"mlflow.trace.session": "chat-1", "mlflow.trace.user": "ada"}
    )
    return answer(OpenAI(max_retries=0), lookup_order)


print(order_agent(QUESTION))
mlflow.flush_trace_async_logging()
from mlflow.tracing import provider

tracer_provider = provider.provider.get() if hasattr(provider.provider, "get") else None
if tracer_provider is not None and hasattr(tracer_provider, "force_flush"):
    tracer_provider.force_flush()
else:
    import time

    time.sleep(6)
