"""OpenAI's agents, by OpenInference."""

import os

import tracing
from openinference.instrumentation import using_attributes
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

OpenAIAgentsInstrumentor().instrument()

from agents import Agent, Runner, function_tool


@function_tool
def lookup_order(order_id: str) -> str:
    """Look up an order."""
    return f"order {order_id} is shipped"


agent = Agent(name="order_agent", model="gpt-5-mini", instructions="You look up orders.", tools=[lookup_order])
with using_attributes(session_id="chat-1", user_id="ada"):
    print(Runner.run_sync(agent, os.environ["QUESTION"]).final_output)
tracing.stop()
