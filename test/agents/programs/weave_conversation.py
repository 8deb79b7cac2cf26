"""Weave's conversation API, by which an agent reports what it does."""

import os

import weave
from weave.conversation import Message, Usage

QUESTION = os.environ["QUESTION"]

weave.init(os.environ["WEAVE_PROJECT"])
from openai import OpenAI
from chat import TOOLS, found
import json

client = OpenAI()


def usage_of(asked):
    cached = asked.usage.prompt_tokens_details.cached_tokens
    return Usage(
        input_tokens=asked.usage.prompt_tokens,
        output_tokens=asked.usage.completion_tokens,
        cache_read_input_tokens=cached,
    )


question = Message(role="user", content=QUESTION)
with weave.start_conversation(agent_name="order_agent", conversation_id="chat-1") as conversation:
    with conversation.start_turn(user_message=QUESTION, model="gpt-5-mini") as turn:
        messages = [{"role": "user", "content": QUESTION}]
        with turn.start_llm(model="gpt-5-mini", provider_name="openai") as llm:
            asked = client.chat.completions.create(model="gpt-5-mini", messages=messages, tools=TOOLS)
            llm.record(input_messages=[question], usage=usage_of(asked), finish_reasons=["tool_calls"])
        message = asked.choices[0].message
        call = message.tool_calls[0]
        with turn.start_tool(
            name=call.function.name, arguments=call.function.arguments, tool_call_id=call.id
        ) as tool:
            tool.result = found(**json.loads(call.function.arguments))
        messages += [
            message.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": call.id, "content": json.dumps(tool.result)},
        ]
        with turn.start_llm(model="gpt-5-mini", provider_name="openai") as llm:
            asked = client.chat.completions.create(model="gpt-5-mini", messages=messages, tools=TOOLS)
            answer = Message(role="assistant", content=asked.choices[0].message.content)
            llm.record(
                input_messages=[question],
                output_messages=[answer],
                usage=usage_of(asked),
                finish_reasons=["stop"],
            )
        turn.record(output_messages=[answer])
conversation.flush() if hasattr(conversation, "flush") else None
weave.finish()
