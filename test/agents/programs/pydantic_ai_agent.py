"""Pydantic AI, by its own instrumentation or by Logfire."""

import os
import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

if "logfire" in sys.argv:
    import logfire

    logfire.configure(send_to_logfire=False, console=False)
    logfire.instrument_pydantic_ai()
    stop = logfire.shutdown
else:
    import tracing

    Agent.instrument_all()
    stop = tracing.stop

agent = Agent(OpenAIChatModel("gpt-5-mini"), system_prompt="You look up orders.", name="order_agent")


@agent.tool_plain
def lookup_order(order_id: str) -> str:
    """Look up an order."""
    return f"order {order_id} is shipped"


print(agent.run_sync(os.environ["QUESTION"], conversation_id="chat-1").output)
stop()
