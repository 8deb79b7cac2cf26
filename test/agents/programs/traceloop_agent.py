"""traceloop-sdk: its decorators around the OpenAI SDK."""

import os

from traceloop.sdk import Traceloop
from traceloop.sdk.decorators import agent, tool, workflow

Traceloop.init(app_name="orders", disable_batch=False)

from chat import QUESTION, answer, found
from openai import OpenAI
from opentelemetry import trace


@tool(name="lookup_order")
def lookup_order(order_id):
    return found(order_id)


@agent(name="order_agent")
def order_agent(question):
    return answer(OpenAI(max_retries=0), lookup_order)


@workflow(name="support")
def support(question):
    Traceloop.set_association_properties({"session_id": "chat-1", "user_id": "ada"})
    return order_agent(question)


print(support(QUESTION))
trace.get_tracer_provider().force_flush()
