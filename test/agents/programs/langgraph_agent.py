"""An agent of LangChain in a graph of LangGraph, by OpenInference."""

import os

import tracing
from openinference.instrumentation.langchain import LangChainInstrumentor

LangChainInstrumentor().instrument()

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def lookup_order(order_id: str) -> str:
    """Look up an order."""
    return f"order {order_id} is shipped"


agent = create_agent(
    ChatOpenAI(model="gpt-5-mini", max_retries=0),
    [lookup_order],
    name="order_agent",
    system_prompt="You look up orders.",
)
question = {"messages": [{"role": "user", "content": os.environ["QUESTION"]}]}
config = {"configurable": {"thread_id": "chat-1"}, "metadata": {"user_id": "ada"}}
print(agent.invoke(question, config)["messages"][-1].content)
tracing.stop()
