"""Langfuse's SDK: observations and its wrapper of the OpenAI SDK."""

from chat import QUESTION, answer, found
from langfuse import get_client, observe, propagate_attributes
from langfuse.openai import OpenAI


@observe(name="lookup_order", as_type="tool")
def lookup_order(order_id):
    return found(order_id)


@observe(name="order_agent", as_type="agent")
def order_agent(question):
    with propagate_attributes(session_id="chat-1", user_id="ada"):
        return answer(OpenAI(max_retries=0), lookup_order)


print(order_agent(QUESTION))
get_client().flush()
