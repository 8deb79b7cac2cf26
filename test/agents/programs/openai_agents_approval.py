"""OpenAI's agents, where a person approves a tool. Both runs are in one trace, or the second is not reported."""

import contextlib
import os
import sys
import time

import tracing

if "openllmetry" in sys.argv:
    from opentelemetry.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    using = contextlib.nullcontext()
else:
    from openinference.instrumentation import using_attributes
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    using = using_attributes(session_id="chat-1", user_id="ada")
OpenAIAgentsInstrumentor().instrument()

from agents import Agent, Runner, function_tool, trace


@function_tool(needs_approval=True)
def lookup_order(order_id: str) -> str:
    """Look up an order."""
    return f"order {order_id} is shipped"


agent = Agent(name="order_agent", model="gpt-5-mini", instructions="You look up orders.", tools=[lookup_order])
with using, trace("support"):
    asked = Runner.run_sync(agent, os.environ["QUESTION"])
    state = asked.to_state()
    for each in asked.interruptions:
        state.approve(each)
    time.sleep(float(os.environ["PAUSE_S"]))
    print(Runner.run_sync(agent, state).final_output)
tracing.stop()
