"""A node of a graph within a graph of LangGraph that asks a person, by OpenInference."""

import os
import time

import tracing
from openinference.instrumentation.langchain import LangChainInstrumentor

LangChainInstrumentor().instrument()

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt


@tool
def lookup_order(order_id: str) -> str:
    """Look up an order."""
    return f"order {order_id} is shipped"


def approve(state):
    return {"messages": [HumanMessage("You may: " + interrupt({"question": "May I look it up?"}))]}


agent = create_agent(
    ChatOpenAI(model="gpt-5-mini", max_retries=0),
    [lookup_order],
    name="order_agent",
    system_prompt="You look up orders.",
)
inner = StateGraph(MessagesState)
inner.add_node("approve", approve)
inner.add_edge(START, "approve")
inner.add_edge("approve", END)
outer = StateGraph(MessagesState)
outer.add_node("review", inner.compile())
outer.add_node("order_agent", agent)
outer.add_edge(START, "review")
outer.add_edge("review", "order_agent")
outer.add_edge("order_agent", END)
graph = outer.compile(checkpointer=InMemorySaver(), name="support")

config = {"configurable": {"thread_id": "chat-1"}, "metadata": {"user_id": "ada"}}
graph.invoke({"messages": [HumanMessage(os.environ["QUESTION"])]}, config)
time.sleep(float(os.environ["PAUSE_S"]))
print(graph.invoke(Command(resume="yes, today"), config)["messages"][-1].content)
tracing.stop()
