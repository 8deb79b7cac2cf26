"""Google ADK, where a tool runs once a person has confirmed it."""

import asyncio
import os
import sys

import tracing
from google.adk.agents import LlmAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import FunctionTool
from google.genai import types


def lookup_order(order_id: str) -> dict:
    """Look up an order."""
    return {"order_id": order_id, "status": "shipped"}


agent = LlmAgent(
    name="order_agent",
    model=LiteLlm(model="openai/gpt-5-mini", api_base=os.environ["OPENAI_BASE_URL"]),
    instruction="You look up orders.",
    tools=[FunctionTool(lookup_order, require_confirmation=True)],
)


async def main():
    sessions = InMemorySessionService()
    who = {"user_id": "ada", "session_id": "chat-1"}
    await sessions.create_session(app_name="orders", **who)
    app = App(
        name="orders",
        root_agent=agent,
        resumability_config=ResumabilityConfig(is_resumable="resumable" in sys.argv),
    )
    runner = Runner(app=app, session_service=sessions)

    async def run(*parts, **options):
        events = []
        message = types.Content(role="user", parts=list(parts))
        async for event in runner.run_async(**who, new_message=message, **options):
            events.append(event)
        return events

    asked = await run(types.Part(text=os.environ["QUESTION"]))
    call, invocation = next(
        (call, event.invocation_id)
        for event in asked
        for call in event.get_function_calls()
        if call.name == "adk_request_confirmation"
    )
    await asyncio.sleep(float(os.environ["PAUSE_S"]))
    answer = types.FunctionResponse(id=call.id, name=call.name, response={"confirmed": True})
    options = {"invocation_id": invocation} if "resumable" in sys.argv else {}
    said = await run(types.Part(function_response=answer), **options)
    print([part.text for event in said if event.content for part in event.content.parts])


asyncio.run(main())
tracing.stop()
