"""An agent by hand: the OpenAI SDK is asked, a tool is run, and the SDK is asked again, streaming."""

import json
import os

MODEL = "gpt-5-mini"
QUESTION = os.environ["QUESTION"]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "lookup_order",
            "description": "Look up an order",
            "parameters": {
                "type": "object",
                "properties": {"order_id": {"type": "string"}},
                "required": ["order_id"],
            },
        },
    }
]


def found(order_id):
    return {"order_id": order_id, "status": "shipped"}


def answer(client, lookup_order):
    messages = [
        {"role": "system", "content": "You look up orders."},
        {"role": "user", "content": QUESTION},
    ]
    asked = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
    call = asked.choices[0].message.tool_calls[0]
    result = lookup_order(**json.loads(call.function.arguments))
    called = {"name": call.function.name, "arguments": call.function.arguments}
    messages += [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call.id, "type": "function", "function": called}],
        },
        {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)},
    ]
    chunks = client.chat.completions.create(
        model=MODEL,
        messages=messages,
        tools=TOOLS,
        stream=True,
        stream_options={"include_usage": True},
    )
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
