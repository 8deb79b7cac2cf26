"""Strands with its own telemetry."""

import os

from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.telemetry import StrandsTelemetry

telemetry = StrandsTelemetry()
telemetry.setup_otlp_exporter()


@tool
def lookup_order(order_id: str) -> str:
    """Look up an order."""
    return f"order {order_id} is shipped"


model = OpenAIModel(client_args={"base_url": os.environ["OPENAI_BASE_URL"]}, model_id="gpt-5-mini")
agent = Agent(
    name="order_agent",
    model=model,
    system_prompt="You look up orders.",
    tools=[lookup_order],
    trace_attributes={"session.id": "chat-1", "user.id": "ada"},
    callback_handler=None,
)
print(agent(os.environ["QUESTION"]))
telemetry.tracer_provider.force_flush()
