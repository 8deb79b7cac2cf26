"""Microsoft's Agent Framework with its own telemetry."""

import asyncio
import os

import tracing
from agent_framework import Agent
from agent_framework.observability import enable_instrumentation
from agent_framework.openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI

enable_instrumentation(enable_sensitive_data=True)


def lookup_order(order_id: str) -> str:
    """Look up an order."""
    return f"order {order_id} is shipped"


async def main():
    client = OpenAIChatCompletionClient(model="gpt-5-mini", async_client=AsyncOpenAI())
    agent = Agent(client=client, name="order_agent", instructions="You look up orders.", tools=[lookup_order])
    # The conversation in its spans is the service's own id of the session.
    session = agent.create_session(session_id="chat-1")
    print((await agent.run(os.environ["QUESTION"], session=session)).text)


asyncio.run(main())
tracing.stop()
