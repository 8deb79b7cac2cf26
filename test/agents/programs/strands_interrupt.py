"""Strands, where a hook asks a person before a tool runs."""

import os
import time

from strands import Agent, tool
from strands.hooks import BeforeToolCallEvent, HookProvider
from strands.models.openai import OpenAIModel
from strands.telemetry import StrandsTelemetry

telemetry = StrandsTelemetry()
telemetry.setup_otlp_exporter()


@tool
def lookup_order(order_id: str) -> str:
    """Look up an order."""
    return f"order {order_id} is shipped"


class Approval(HookProvider):
    def register_hooks(self, registry, **_):
        registry.add_callback(BeforeToolCallEvent, self.ask)

    def ask(self, event):
        if event.interrupt("approval", reason="May I look it up?") != "yes":
            event.cancel_tool = "not allowed"


model = OpenAIModel(client_args={"base_url": os.environ["OPENAI_BASE_URL"]}, model_id="gpt-5-mini")
agent = Agent(
    name="order_agent",
    model=model,
    system_prompt="You look up orders.",
    tools=[lookup_order],
    hooks=[Approval()],
    trace_attributes={"session.id": "chat-1", "user.id": "ada"},
    callback_handler=None,
)
asked = agent(os.environ["QUESTION"])
time.sleep(float(os.environ["PAUSE_S"]))
print(agent([{"interruptResponse": {"interruptId": each.id, "response": "yes"}} for each in asked.interrupts]))
telemetry.tracer_provider.force_flush()
